package mr

import (
	"errors"
	"fmt"
	"iter"

	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/shuffle"
)

// combinerTask is what a combiner sees of the attempt. It may run beside the
// mapper, far from the record at hand: it knows no input and writes to no
// named output.
func combinerTask(t *Task) *Task {
	c := *t
	c.location, c.named = nil, nil
	return &c
}

// groupCombiner runs the user's combiner over groups of encoded records. Its
// Setup is called; it has no Close, since what it emits goes to one group.
func (r *route[K, V]) groupCombiner(emitting *Task) (shuffle.Combiner, error) {
	t := combinerTask(emitting)
	combiner := instance(r.combiner)
	if err := callSetup(t, combiner); err != nil {
		return nil, fmt.Errorf("combiner: %w", err)
	}
	c := &groupCombine[K, V]{task: t, keys: r.keys, codec: r.values, combiner: combiner}
	c.values, c.out = c.each, encoder[K, V]{keys: r.keys, values: r.values}
	return c.combine, nil
}

// groupCombine is a combiner at work, on one group at a time. What a group needs
// is made once for all of them.
type groupCombine[K, V any] struct {
	task     *Task
	keys     keys.Codec[K]
	codec    keys.Codec[V]
	combiner Reducer[K, V, K, V]
	values   iter.Seq[V] // each
	group    *shuffle.Values
	out      encoder[K, V]
	err      error // of a value
}

func (c *groupCombine[K, V]) combine(key []byte, values *shuffle.Values, emit func(key, value []byte)) error {
	k, err := c.keys.Decode(key)
	if err != nil {
		return fmt.Errorf("decoding a key: %w", err)
	}
	c.group, c.out.add = values, emit
	err = c.combiner.Reduce(c.task, k, c.values, &c.out)
	if c.err != nil {
		return errors.Join(err, c.err)
	}
	return err
}

// each ranges over the values of the present group.
func (c *groupCombine[K, V]) each(yield func(V) bool) {
	for c.group.Next() {
		v, err := c.codec.Decode(c.group.Value())
		if err != nil {
			c.err = fmt.Errorf("decoding a value: %w", err)
			return
		}
		if !yield(v) {
			return
		}
	}
}
