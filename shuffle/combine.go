package shuffle

import (
	"bytes"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of a combiner or fold. It may occur in a goroutine of the collector,
// for records that were added long ago.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// recoverTo turns a panic into an error. It must be deferred.
func recoverTo(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// combinerRun runs a user's combiner and counts its records.
type combinerRun struct {
	combine Combiner
	in, out int64
	values  Values
	counted countedValues

	// Of the current group:
	w    *dataWriter
	key  []byte
	err  error
	emit func(key, value []byte) // the method add, bound once
}

func newCombinerRun(c Combiner) *combinerRun {
	cb := &combinerRun{combine: c}
	cb.emit = cb.add
	cb.values.source = &cb.counted
	return cb
}

// group is a groupWriter.
func (c *combinerRun) group(w *dataWriter, key []byte, values valueSource) error {
	c.w, c.key, c.err = w, key, nil
	c.counted = countedValues{valueSource: values}
	err := c.combine(key, &c.values, c.emit)
	for c.counted.NextValue() {
		// Values that the combiner did not read count as combined too.
	}
	c.in += c.counted.n
	if err == nil {
		err = c.err
	}
	if err != nil {
		return fmt.Errorf("combiner: %w", err)
	}
	return nil
}

func (c *combinerRun) add(key, value []byte) {
	if !bytes.Equal(key, c.key) {
		if c.err == nil {
			c.err = fmt.Errorf("key %q emitted while combining %q; only the same key may be emitted", clip(key), clip(c.key))
		}
		return
	}
	c.w.addPair(key, value)
	c.out++
}

// clip shortens a key for a message.
func clip(key []byte) []byte { return key[:min(len(key), 64)] }

// countedValues counts the values that are taken.
type countedValues struct {
	valueSource
	n int64
}

func (v *countedValues) NextValue() bool {
	if !v.valueSource.NextValue() {
		return false
	}
	v.n++
	return true
}
