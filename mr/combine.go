package mr

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/shuffle"
)

// combinerTask is what a combiner sees of the attempt. It may run beside the
// mapper, far from the record at hand: it knows no input and writes to no
// named output.
func combinerTask(t *Task) *Task {
	c := *t
	c.where, c.named = nil, nil
	return &c
}

// groupCombiner runs the user's combiner over groups of encoded records. Its
// Setup is called; it has no Close, since what it emits goes to one group.
func (j *Job[K, V, KO, VO]) groupCombiner(mapTask *Task) (shuffle.Combiner, error) {
	t := combinerTask(mapTask)
	combiner := instance(j.combiner)
	if err := callSetup(t, combiner); err != nil {
		return nil, fmt.Errorf("combiner: %w", err)
	}
	var fault error // of a value
	return func(key []byte, values *shuffle.Values, emit func(key, value []byte)) error {
		k, err := j.keys.Decode(key)
		if err != nil {
			return fmt.Errorf("decoding a key: %w", err)
		}
		out := &encoder[K, V]{keys: j.keys, values: j.values, add: emit}
		err = combiner.Reduce(t, k, func(yield func(V) bool) {
			for values.Next() {
				v, err := j.values.Decode(values.Value())
				if err != nil {
					fault = fmt.Errorf("decoding a value: %w", err)
					return
				}
				if !yield(v) {
					return
				}
			}
		}, out)
		return errors.Join(err, fault)
	}, nil
}
