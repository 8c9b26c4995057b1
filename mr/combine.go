package mr

import (
	"errors"
	"fmt"
	"iter"

	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/shuffle"
)

// combinerTask is the Task that a combiner sees. A combiner may run in a goroutine of its
// own, for records that were mapped long ago. So it has no current input, and writes to no
// named output.
func combinerTask(t *Task) *Task {
	c := *t
	c.location, c.named = nil, nil
	return &c
}

// groupCombiner makes a Combiner that runs the user's combiner over groups of encoded
// records. It calls Setup, but not Close: what a combiner emits belongs to one group.
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

// groupCombine runs a combiner on one group at a time. It reuses its buffers for all groups.
type groupCombine[K, V any] struct {
	task     *Task
	keys     keys.Codec[K]
	codec    keys.Codec[V]
	combiner Reducer[K, V, K, V]
	values   iter.Seq[V] // the method each, bound once
	group    *shuffle.Values
	out      encoder[K, V]
	err      error // of decoding a value
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

// each ranges over the values of the current group.
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
