package mr

import "github.com/hammr/hammr/internal/keys"

// route is the way of records from the code that emits them to the code that reads them: how
// they are encoded, combined and partitioned.
type route[K, V any] struct {
	keys       keys.Codec[K]
	keyErr     error // why there is no codec for K; nil if there is one
	values     keys.Codec[V]
	combiner   Reducer[K, V, K, V]             // nil: none
	partition  func(key K, partitions int) int // nil: by hash
	groupFirst bool
	totalOrder *sampling
}

// newRoute returns a route with the default codecs of its types.
func newRoute[K, V any]() route[K, V] {
	r := route[K, V]{values: valueCodec[V]()}
	r.keys, r.keyErr = keyCodec[K]()
	return r
}
