package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// This file has the text of `hammr job explain` for finished jobs: the slots they
// used.

// writeFinish prints when a job ended, and why if it did not succeed.
func (q *query) writeFinish(w io.Writer, e apidoc.Explanation) {
	field(w, "Submitted At", "%s", q.time(e.Submit))
	field(w, "Finished At", "%s (%s)", q.time(e.Finish), seconds(e.Finish-e.Submit))
	if e.Cause != "" {
		field(w, "Reason", "%s", oneLine(e.Cause))
	}
}

// writeFinishedStage prints what the attempts of a stage used: slots by machine, and the
// longest wait of a task for one.
func writeFinishedStage(w io.Writer, s *apidoc.Stage) {
	p := s.Past
	fmt.Fprintf(w, "\n%s: %d tasks%s, %d finished; %d attempts, %d of them preempted\n",
		oneLine(s.Name), s.Tasks, slotsEach(p), s.Finished, p.Attempts, p.Preempted)
	if p.LongestWaitTask != "" {
		fmt.Fprintf(w, "  waited %s in total, longest %s: %s\n", seconds(p.WaitedMillis), seconds(p.LongestWaitMillis), p.LongestWaitTask)
	}
	for _, n := range p.Tasknodes {
		fmt.Fprintf(w, "  %s: %d attempts, %s of slots\n", n.Name, n.Attempts, seconds(n.SlotMillis))
	}
}

// slotsEach returns the slots of each task, "" if unknown. Tasks of a graph may take slots
// of both kinds.
func slotsEach(p *apidoc.StageUsage) string {
	var kinds []string
	if p.MapSlots > 0 {
		kinds = append(kinds, fmt.Sprintf("%d map", p.MapSlots))
	}
	if p.ReduceSlots > 0 {
		kinds = append(kinds, fmt.Sprintf("%d reduce", p.ReduceSlots))
	}
	if len(kinds) == 0 {
		return ""
	}
	return " of " + strings.Join(kinds, " and ") + " slots each"
}

// finishedTable returns the attempts of a finished job, with the time that each waited for a
// slot.
func (q *query) finishedTable(attempts []apidoc.ExplainedAttempt) *table {
	t := &table{heading: []string{"Attempt", "Node", "State", "Waited", "From", "Until", "Cause"}}
	for _, a := range attempts {
		t.add(a.ID, a.Tasknode, a.State, seconds(a.Waited), q.time(a.Start), q.time(a.Since), oneLine(a.Cause))
	}
	return t
}

// seconds formats ms.
func seconds(millis int64) string { return fmt.Sprintf("%.3fs", float64(millis)/1000) }
