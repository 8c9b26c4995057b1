package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim/tables"
)

// lostTask is a task that was lost while it ran. Its wait is the time from the end of the lost
// attempt to the start of the next one, in ms. Both are times of the master's clock.
type lostTask struct {
	policy, kind string
	failure      int // from 1
	wait         int64
	placed       bool // its input is on some machines
	local        bool // it runs again on one of them
}

// recovered returns what was lost on a machine when it was killed, if all of that runs again.
// hosts have the input of its tasks, nil for nowhere in particular.
//
// Attempts that ended before the kill, or started after it, do not count. If one has no
// successor yet, it reports false and the caller asks again with a later status, so that
// no failure is counted by half.
func recovered(j *wire.JobStatus, machine string, killed int64, hosts blockHosts) (lost []lostTask, all bool) {
	for n, t := range j.Tasks {
		for i, a := range t.Attempts {
			if a.Machine != machine || a.StartTime > killed || a.FinishTime != 0 && a.FinishTime < killed {
				continue
			}
			if a.FinishTime == 0 || i+1 == len(t.Attempts) {
				return nil, false
			}
			next := t.Attempts[i+1]
			lost = append(lost, lostTask{wait: next.StartTime - a.FinishTime, placed: hosts != nil, local: hosts.local(n, next.Machine)})
		}
	}
	return lost, true
}

// recoveryResults has a line for each lost task, and the percentiles of their waits. A failure lasts
// until the last of its tasks runs again.
func recoveryResults(all []lostTask) tables.Results {
	r := tables.Results{
		Samples: tables.New("policy", "task", "failure", "wait_ms", "local"),
		Summary: tables.New("POLICY|%s", "TASK", "LOST|%d", "WAIT P50|%d ms", "P95|%d ms", "MOST|%d ms", "LOCAL", "FAILURES|%d", "RIGHT AGAIN P50|%d ms", "P95|%d ms"),
	}
	for group, lost := range tables.Groups(all, func(l lostTask) [2]string { return [2]string{l.policy, l.kind} }) {
		var waits, failures []int64
		placed, near := 0, 0
		for _, l := range lost {
			isLocal := ""
			if l.placed {
				placed, isLocal = placed+1, strconv.FormatBool(l.local)
			}
			if l.local {
				near++
			}
			waits = append(waits, l.wait)
			r.Samples.Add(l.policy, l.kind, l.failure, l.wait, isLocal)
		}
		for _, of := range tables.Groups(lost, func(l lostTask) int { return l.failure }) {
			failures = append(failures, slices.MaxFunc(of, func(a, b lostTask) int { return cmp.Compare(a.wait, b.wait) }).wait)
		}
		local := "–"
		if placed > 0 {
			local = fmt.Sprintf("%d of %d", near, placed)
		}
		r.Summary.Add(group[0], group[1], len(lost), percentile.Of(waits, 50), percentile.Of(waits, 95), percentile.Of(waits, 100), local,
			len(failures), percentile.Of(failures, 50), percentile.Of(failures, 95))
	}
	return r
}
