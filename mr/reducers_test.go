package mr

import (
	"bytes"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// caught is an Emitter that keeps the emitted records.
type caught[K, V any] struct {
	keys   []K
	values []V
}

func (c *caught[K, V]) Emit(k K, v V) {
	c.keys = append(c.keys, k)
	c.values = append(c.values, v)
}

func TestFolds(t *testing.T) {
	values := []int64{3, 1, 2}
	for name, c := range map[string]struct {
		reducer FoldReducer[string, int64]
		want    int64
	}{
		"sum":   {Sum[string, int64](), 6},
		"min":   {Min[string, int64](), 1},
		"max":   {Max[string, int64](), 3},
		"first": {First[string, int64](), 3},
	} {
		var out caught[string, int64]
		must.Do(t, c.reducer.Reduce(nil, "k", slices.Values(values), &out))
		if !slices.Equal(out.values, []int64{c.want}) {
			t.Errorf("%s: %v, want %d", name, out.values, c.want)
		}
	}
}

// TestFoldKeepsBytes folds values that share one buffer, as a reader's values do.
func TestFoldKeepsBytes(t *testing.T) {
	buffer := make([]byte, 1)
	values := func(yield func([]byte) bool) {
		for _, c := range []byte("bca") {
			buffer[0] = c
			if !yield(buffer) {
				return
			}
		}
	}
	var out caught[string, []byte]
	must.Do(t, First[string, []byte]().Reduce(nil, "k", values, &out))
	if !bytes.Equal(out.values[0], []byte("b")) {
		t.Errorf("first value %q, want b", out.values[0])
	}
}
