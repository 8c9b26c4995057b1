package shuffle

import "iter"

// Values is the values of one key, in order. Each is seen once, and is valid until the next.
type Values struct {
	source valueSource
}

// valueSource steps through the values of a group.
type valueSource interface {
	NextValue() bool
	Value() []byte
}

// Next advances to the next value. It returns false at the end of the group.
func (v *Values) Next() bool { return v.source.NextValue() }

// Value is the current value.
func (v *Values) Value() []byte { return v.source.Value() }

// All ranges over the remaining values.
func (v *Values) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for v.Next() {
			if !yield(v.Value()) {
				return
			}
		}
	}
}
