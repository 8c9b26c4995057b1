package recovery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// header heads the table; times are ms.
const header = `| policy | task | lost | wait p50 | p95 | most | local | failures | right again p50 | p95 |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|`

// waits are the results of the failures, in ms. A wait is the time from the end of a lost
// attempt to the start of the next one of its task. Both are times of the master's clock.
type waits struct {
	tasks    []int64 // of each task that was lost while running
	failures []int64 // of each failure until the last of its tasks ran again

	placed, local int // tasks with input on some machines, and those that run again there
}

// running returns the tasknodes on which tasks of a kind run.
func running(j *wire.JobStatus, kind taskproc.Kind) (nodes []string) {
	for _, t := range j.Tasks {
		for _, a := range t.Attempts {
			if t.Kind == kind && a.FinishTime == 0 && !a.Suspended {
				nodes = append(nodes, a.Machine)
			}
		}
	}
	return nodes
}

// mostFrequent returns the most frequent name, the first of several. names is not empty. It
// sorts the slice of the caller.
func mostFrequent(names []string) string {
	slices.Sort(names)
	count := make(map[string]int)
	for _, name := range names {
		count[name]++
	}
	return slices.MaxFunc(names, func(a, b string) int { return count[a] - count[b] })
}

// add counts a failure if all that ran on the machine when it was killed has started
// again, and reports whether it has. local says where the input of a task lies, nil for
// nowhere.
//
// Attempts that ended before the kill, or started after it, do not count. If one has no
// successor yet, nothing is counted and the caller asks again with a later status, so that
// no failure is counted by half.
func (w *waits) add(j *wire.JobStatus, machine string, killed int64, local func(task int, node string) bool) bool {
	var found waits
	for n, t := range j.Tasks {
		for i, a := range t.Attempts {
			if a.Machine != machine || a.StartTime > killed || a.FinishTime != 0 && a.FinishTime < killed {
				continue
			}
			if a.FinishTime == 0 || i+1 == len(t.Attempts) {
				return false
			}
			next := t.Attempts[i+1]
			found.tasks = append(found.tasks, next.StartTime-a.FinishTime)
			if local != nil {
				found.placed++
			}
			if local != nil && local(n, next.Machine) {
				found.local++
			}
		}
	}
	w.tasks = append(w.tasks, found.tasks...)
	if len(found.tasks) > 0 {
		w.failures = append(w.failures, slices.Max(found.tasks))
	}
	w.placed, w.local = w.placed+found.placed, w.local+found.local
	return true
}

// row returns a line of the Markdown table.
func (w *waits) row(policy, what string) string {
	local := "–"
	if w.placed > 0 {
		local = fmt.Sprintf("%d of %d", w.local, w.placed)
	}
	cells := []string{policy, what, strconv.Itoa(len(w.tasks)), percentileCell(w.tasks, 50), percentileCell(w.tasks, 95), percentileCell(w.tasks, 100),
		local, strconv.Itoa(len(w.failures)), percentileCell(w.failures, 50), percentileCell(w.failures, 95)}
	return "| " + strings.Join(cells, " | ") + " |"
}

// percentileCell returns one of some times, "–" for none.
func percentileCell(values []int64, percent int) string {
	if len(values) == 0 {
		return "–"
	}
	return strconv.FormatInt(percentile.Of(values, percent), 10)
}
