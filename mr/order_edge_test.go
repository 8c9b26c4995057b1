package mr

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// TestOrdersAtTheEdges orders a map to split or to checkpoint before its first record, at
// its last record, or twice. Later attempts complete the work. The output equals the output
// of an undisturbed run.
func TestOrdersAtTheEdges(t *testing.T) {
	orders := map[string]*taskproc.ToTask{"split": stopOrder, "pause": pauseOrder}
	for what, order := range orders {
		for when, times := range map[string]struct {
			at    int // call of user code at which the order is sent
			first int // number of orders before the first call
		}{"at 0 %": {first: 1}, "twice at 0 %": {first: 2}, "at 100 %": {at: 20}, "twice": {at: 10, first: 1}} {
			t.Run(what+" "+when, func(t *testing.T) {
				var n *node
				job := disturbedJobs(func(t *Task) { n.touch(t) })["map-only"]
				text := someText(rand.New(rand.NewPCG(1, 1)), 20)
				splits := cutInputs(t, job, 1<<20, inputFile{content: []byte(text)})
				n = newNode(t, job, 0, nil)
				want := n.run(splits, nil)
				got := n.endedEarly(splits[0], order, times.at, slices.Repeat([]*taskproc.ToTask{order}, times.first))
				if got != want[0] {
					t.Errorf("output is %q, want %q", got, want[0])
				}
			})
		}
	}
}

// endedEarly runs a map whose first attempt gets an order, and then runs the rest of the
// map's work.
func (n *node) endedEarly(split *taskproc.Split, order *taskproc.ToTask, at int, first []*taskproc.ToTask) string {
	n.t.Helper()
	start := n.cloneStart(taskproc.Kind_MAP, 0)
	start.Split, start.Range = split, messageOf(splitOf(split, Range{}).Whole())
	end := start.Range.End
	last := n.attempt(start, at, order, first...)
	if p := last.GetCheckpointed(); p != nil {
		start.Checkpoint = p.Checkpoint
		return n.textOf(n.attempt(start, 0, nil).GetFinished().GetPieces())
	}
	done := last.GetFinished()
	pieces := done.GetPieces()
	if r := done.GetRange().GetEnd(); r.GetOffset() != end.Offset || r.GetSkip() != end.Skip {
		rest := n.cloneStart(taskproc.Kind_MAP, 1)
		rest.Split, rest.Range = split, &taskproc.Range{Start: r, End: end}
		pieces = append(pieces, n.attempt(rest, 0, nil).GetFinished().GetPieces()...)
	}
	return n.textOf(pieces)
}
