package e2e

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// keptCase is a program whose graph has a kept file, with the stages that write and read it.
type keptCase struct {
	program       []string // with the arguments before the input
	input         string   // of bytesInputs
	bytes         int
	keeps, reads  string // such as "s0"
	stagesOfGraph string // for messages
}

// keptCases are kmeans, whose reader has a side input too, and pagerankdag, whose last reader
// joins the kept file with a shuffle.
var keptCases = []keptCase{
	{[]string{"kmeans", "3", "1"}, "points", 12 << 10, "s0", "s2", "points, points-top, assign-1, centres-1"},
	{[]string{"pagerankdag", "1"}, "links", 6 << 10, "s1", "s4", "edges, links, round-0, round-0-totals, round-1"},
}

// TestKeptStagesResumeFromCheckpoints checkpoints an attempt of each stage of graphs with kept
// files and sides: also one that writes a kept file, and one that reads it where it is. It
// kills an attempt that has resumed, whose successor goes back to the checkpoint. The
// output equals that of an undisturbed run.
//
// Gate: TestGangIsCheckpointedAsAWhole, mr.TestSameBytesWhateverHappens
func TestKeptStagesResumeFromCheckpoints(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	e, inputs := newEngine(t, "--tasknodes", "2", "--map-slots", "2", "--reduce-slots", "2"), bytesInputs(t)
	for _, c := range keptCases {
		c.run(t, e, inputs[c.input][:c.bytes])
	}
}

// run runs a case and compares its output with that of an undisturbed run. A stage may end before
// it is looked at. Then there is another run, whose records take twice as long.
func (c *keptCase) run(t *testing.T, e *engine, input []byte) {
	in, dir := newFile(t, c.input, input[:bytes.LastIndexByte(input, '\n')+1]), t.TempDir()
	want := filepath.Join(dir, "want")
	args := func(out string, options ...string) []string {
		return slices.Concat(c.program[:1], []string{twoReduces}, options, c.program[1:], []string{in, out})
	}
	done(t, slices.Concat([]string{"run", "--quiet"}, args(want))...)
	orders := make(map[string]int)
	for try := 0; try < 8 && min(orders[c.keeps], orders[c.reads]) == 0; try++ {
		out := filepath.Join(dir, fmt.Sprint("out-", try))
		j := &preempted{e, e.submit(args(out, fmt.Sprintf("-Dhammr.debug.record.sleep=%dms", 2<<try), "-Dhammr.preempt.boundary.timeout=1m")...)}
		for stage, n := range j.preemptEachStage() {
			orders[stage] += n
		}
		j.awaitSuccess(j.id)
		wantSameTree(t, out, want)
		if failures := j.job(j.id).Failures; len(failures) > 0 {
			t.Errorf("failures %+v", failures)
		}
	}
	t.Logf("orders by stage, of %s: %v", c.stagesOfGraph, orders)
	for _, stage := range []string{c.keeps, c.reads} {
		if orders[stage] == 0 {
			t.Errorf("no attempt of %s of %s was checkpointed", stage, c.program[0])
		}
	}
}

// stageOf finds the stage in the name of a task.
var stageOf = regexp.MustCompile(`_(s\d+)_`)

// preemptEachStage checkpoints one running attempt of each stage and kills one that has
// resumed, until the job ends. It returns how many orders each stage has followed.
func (j *preempted) preemptEachStage() map[string]int {
	orders := make(map[string]int)
	for doc := j.job(j.id); doc.State == report.Running; doc = j.job(j.id) {
		for _, task := range doc.Tasks {
			name := stageOf.FindStringSubmatch(task.ID)
			if name == nil || len(task.Attempts) == 0 {
				continue
			}
			last, n := task.Attempts[len(task.Attempts)-1], orders[name[1]]
			mode := "checkpoint"
			if n > 0 {
				mode = "kill"
			}
			if last.State == report.Running && (n == 0 || n == 1 && len(task.Attempts) > 1) &&
				j.order(last.ID, mode) {
				orders[name[1]]++
			}
		}
	}
	return orders
}
