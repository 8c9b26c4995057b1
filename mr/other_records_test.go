package mr

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// TestSumsOfAMapThatRunsAgain runs a map twice. If it salts its keys at random, its sums differ; if
// it does not, or emits the keys of a Go map once each, all bytes are the same.
func TestSumsOfAMapThatRunsAgain(t *testing.T) {
	salted := MapFunc(func(_ *Task, _ int64, line []byte, out Emitter[string, int64]) error {
		for w := range Words(line) {
			out.Emit(string(w)+"#"+strconv.Itoa(rand.IntN(10)), 1)
		}
		return nil
	})
	plain := MapFunc(func(_ *Task, _ int64, line []byte, out Emitter[string, int64]) error {
		for w := range Words(line) {
			out.Emit(string(w), 1)
		}
		return nil
	})
	unordered := MapFunc(func(_ *Task, offset int64, line []byte, out Emitter[string, int64]) error {
		counts := make(map[string]int64)
		for w := range Words(line) {
			counts[string(w)]++
		}
		for w := range maps.Keys(counts) {
			out.Emit(w, counts[w]+offset)
		}
		return nil
	})
	sum := Sum[string, int64]()
	content := []byte(someText(rand.New(rand.NewPCG(1, 2)), 400))
	for name, c := range map[string]struct {
		job    *Job[string, int64, string, int64]
		differ bool
	}{
		"salted":            {New("salted", TextLines(), salted, sum, TextOutput[string, int64]()), true},
		"salted, folded":    {New("salted-folded", TextLines(), salted, sum, TextOutput[string, int64]()).Combine(sum), true},
		"plain":             {New("plain", TextLines(), plain, sum, TextOutput[string, int64]()), false},
		"plain, folded":     {New("plain-folded", TextLines(), plain, sum, TextOutput[string, int64]()).Combine(sum), false},
		"order of a Go map": {New("unordered", TextLines(), unordered, sum, TextOutput[string, int64]()), false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, c.job, 3, nil)
			split := cutInputs(t, c.job, 1<<30, inputFile{content: content})[0]
			var outputs [2]*taskproc.MapOutput
			for i := range outputs {
				start := n.cloneStart(taskproc.Kind_MAP, 0)
				start.Split, start.Range = split, messageOf(splitOf(split, Range{}).Whole())
				outputs[i] = n.attempt(start, 0, nil).GetFinished().Outputs[0]
			}
			a, b := outputs[0], outputs[1]
			same := a.Emitted == b.Emitted && a.Cuts == b.Cuts && a.IndexChecksum == b.IndexChecksum
			if same == c.differ || a.Emitted == 0 || a.Cuts == 0 {
				t.Errorf("sums %x %x of index %x and %x %x of index %x", a.Emitted, a.Cuts, a.IndexChecksum, b.Emitted, b.Cuts, b.IndexChecksum)
			}
		})
	}
}
