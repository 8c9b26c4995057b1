package mr

import (
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// TestStateSurvivesACheckpointBeforeTheFirstGroup checkpoints a reduce between two groups, and
// again while its next attempt copies outputs. That attempt calls no user code. The final
// attempt still has the state that the first one saved.
func TestStateSurvivesACheckpointBeforeTheFirstGroup(t *testing.T) {
	for _, name := range []string{"stateful", "graph-stateful"} {
		t.Run(name, func(t *testing.T) {
			var n *node
			job := disturbedJobs(func(t *Task) { n.touch(t) })[name]
			text := []byte(someText(rand.New(rand.NewPCG(1, 1)), 50))
			splits := cutInputs(t, job, 700, inputFile{content: text})
			n = newNode(t, job, 1, nil)
			want := n.run(splits, nil)

			outputs, _ := n.runMaps(splits, nil)
			start := n.cloneStart(taskproc.Kind_REDUCE, 0)
			paused := func(last *taskproc.FromTask) {
				t.Helper()
				if start.Checkpoint = last.GetCheckpointed().GetCheckpoint(); start.Checkpoint == nil {
					t.Fatalf("not paused: %v", last)
				}
			}
			paused(n.attempt(start, 5, pauseOrder, outputsMessage(outputs, true)))
			paused(n.attempt(start, 0, nil, outputsMessage(nil, false), pauseOrder))
			done := n.attempt(start, 0, nil, outputsMessage(outputs, true)).GetFinished()
			if done == nil {
				t.Fatalf("at last %v", done)
			}
			if got := n.textOf(done.Pieces); got != want[0] {
				t.Errorf("output is %q, want %q", got, want[0])
			}
		})
	}
}
