package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// newJobExplain asks the leader. For a running job the leader has the reasons in memory; for
// a finished job they are in the job's history.
func (r clusterCommands) newJobExplain() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "explain JOB [TASK]",
		Short: "Show why a job, or one of its tasks, has or lacks slots",
		Long: `Show why a job has or lacks slots: what its tasks wait for in each stage, for
how long the job and its stages have waited for each reason, what the policy
knows of the job, and which attempts were preempted. For a task also show the
cost of running it on each tasknode with free slots: the bytes of its input
times the distance they travel.

For a finished job, show the slots that its tasks used and on which tasknodes,
how long they waited, and which attempts were preempted and why. The job's
history has these for the masters' --retention.`,
		Example: `  hammr job explain job_1763700000000_0001 --json
  hammr job explain job_1763700000000_0001 task_1763700000000_0001_m_000007`,
		Args: numberOfArgs("the id of a job, and optionally that of one of its tasks", 1, 2),
	}, func(ctx context.Context, q *query) (e apidoc.Explanation, err error) {
		task := ""
		if len(q.args) == 2 {
			task = q.args[1]
		}
		e, err = docs.Explanation.From(ctx, q, docs.TaskID{Job: q.args[0], Task: task})
		if errors.Is(err, client.ErrUnknown) { // the task or its job is unknown
			_, jobErr := q.job(ctx, q.args[0], false)
			return e, cmp.Or(jobErr, error(notFound{"task", task}))
		}
		return e, err
	}, (*query).writeExplanation)
}

// writeExplanation prints the job, its stages and preempted attempts, and the task if one
// was named.
func (q *query) writeExplanation(e apidoc.Explanation) {
	w := q.stdout
	field(w, "Job", "%s", e.JobID)
	field(w, "Job state", "%s", e.State)
	field(w, "Queue", "%s", oneLine(e.Queue))
	field(w, "Priority", "%s", e.Priority)
	if e.Finish != 0 {
		q.writeFinish(w, e)
	} else {
		field(w, "Policy", "%s", e.Policy)
	}
	for _, reason := range e.Reasons {
		field(w, "No slots", "%s", oneLine(reason))
	}
	if len(e.Waits) > 0 {
		field(w, "Waited", "%s", q.waitsText(e.Waits, e.WaitsSince))
	}
	for _, f := range e.Details {
		fmt.Fprintf(w, "  %s: %s\n", oneLine(f.Name), oneLine(f.Value))
	}
	for i := range e.Stages {
		q.writeStage(w, &e.Stages[i])
	}
	attempts := q.attemptTable
	if e.Finish != 0 {
		attempts = q.finishedTable
	}
	if len(e.Taken) > 0 {
		fmt.Fprintln(w, "\nPreempted attempts")
		attempts(e.Taken).write(w)
	}
	if e.Task != nil {
		q.writeTask(w, e.Task, attempts)
	}
}

// writeStage prints a stage. For an unfinished job it prints the tasks by state, why tasks
// wait, and when the policy considers them again.
func (q *query) writeStage(w io.Writer, s *apidoc.Stage) {
	if s.Past != nil {
		writeFinishedStage(w, s)
		q.writeStageWaits(w, s)
		return
	}
	fmt.Fprintf(w, "\n%s: %d tasks, %d finished, %d running, %d waiting, %d suspended; %d of %d %s slots are free\n",
		oneLine(s.Name), s.Tasks, s.Finished, s.Running, s.Waiting, s.Suspended, s.Free, s.Slots, s.Slot)
	writeReasons(w, s.Reasons)
	q.writeStageWaits(w, s)
	if s.Until != 0 {
		fmt.Fprintf(w, "  considered again at %s\n", q.time(s.Until))
	}
	if len(s.Avoids) > 0 {
		fmt.Fprintf(w, "  avoids %s, where many of the job's tasks have failed\n", strings.Join(s.Avoids, ", "))
	}
}

// writeStageWaits prints for how long tasks of a stage waited.
func (q *query) writeStageWaits(w io.Writer, s *apidoc.Stage) {
	if len(s.Waits) > 0 {
		fmt.Fprintf(w, "  at least one task waited for %s\n", q.waitsText(s.Waits, 0))
	}
}

// waitsText returns a sum of times with its parts. If since is not 0, what was before is unknown.
func (q *query) waitsText(waits []apidoc.WaitTime, since int64) string {
	sum, parts := int64(0), make([]string, len(waits))
	for i, t := range waits {
		sum, parts[i] = sum+t.Millis, seconds(t.Millis)+" "+t.Class
	}
	text := seconds(sum) + ": " + strings.Join(parts, ", ")
	if since != 0 {
		text += "; before " + q.time(since) + " unknown"
	}
	return text
}

// writeReasons prints reasons, one a line, below what they explain.
func writeReasons(w io.Writer, reasons []string) {
	for _, reason := range reasons {
		fmt.Fprintf(w, "  %s\n", oneLine(reason))
	}
}

// attemptTable returns the attempts of an unfinished job. Column Since has the time at which
// the state began.
func (q *query) attemptTable(attempts []apidoc.ExplainedAttempt) *table {
	t := &table{heading: []string{"Attempt", "Node", "State", "Since", "Cause"}}
	for _, a := range attempts {
		t.add(a.ID, a.Tasknode, a.State, q.time(a.Since), oneLine(a.Cause))
	}
	return t
}

// writeTask prints one task: why it waits, its attempts, and the cost of each machine with a
// free slot. The placement minimizes this cost: bytes times the distance that they travel.
func (q *query) writeTask(w io.Writer, t *apidoc.ExplainedTask, attempts func([]apidoc.ExplainedAttempt) *table) {
	fmt.Fprintf(w, "\n%s, %s: %s\n", t.ID, oneLine(t.Stage), t.State)
	writeReasons(w, t.Reasons)
	if len(t.FailedOn) > 0 {
		fmt.Fprintf(w, "  not tried again on %s, where it has failed\n", strings.Join(t.FailedOn, ", "))
	}
	if len(t.Attempts) > 0 {
		attempts(t.Attempts).write(w)
	}
	if len(t.Candidates) == 0 {
		return
	}
	candidates := &table{heading: []string{"Free slot on", "Input", "Local bytes", "Rack bytes", "Remote bytes", "Cost", "Avoided"}}
	for _, s := range t.Candidates {
		avoided := ""
		if s.Avoided {
			avoided = "yes"
		}
		candidates.add(s.Tasknode, s.Place, decimal(s.LocalBytes), decimal(s.RackBytes), decimal(s.RemoteBytes), decimal(s.Cost), avoided)
	}
	candidates.write(w)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
