package tables

import "iter"

// Groups yields the values of each key, in the order in which the keys appear.
func Groups[K comparable, V any](all []V, key func(V) K) iter.Seq2[K, []V] {
	return func(yield func(K, []V) bool) {
		var order []K
		of := make(map[K][]V)
		for _, value := range all {
			k := key(value)
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], value)
		}
		for _, k := range order {
			if !yield(k, of[k]) {
				return
			}
		}
	}
}
