package live

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sim"
)

// failedMachine is a machine that failed and when it was declared lost, in ms since the
// epoch. record is its index in Result.Lost.
type failedMachine struct {
	node           string
	failedAt       int64
	declaredLostAt int64 // 0 if no attempt shows it
	record         int   // index in Result.Lost
}

// noteLost finds when a machine was declared lost: its running attempts end at that moment.
// Without a running attempt the moment is unknown, and stays 0.
func (t *resultBuilder) noteLost(l LostMachine) {
	v := failedMachine{node: t.run.machines[l.Machine], failedAt: l.At.UnixMilli(), record: len(t.out.Lost)}
	for _, j := range t.run.Jobs {
		for _, task := range j.Tasks {
			for _, a := range task.Attempts {
				if a.Machine == v.node && a.State == wire.AttemptState_ATTEMPT_KILLED && a.FinishTime > v.failedAt && (v.declaredLostAt == 0 || a.FinishTime < v.declaredLostAt) {
					v.declaredLostAt = a.FinishTime
				}
			}
		}
	}
	record := sim.LostMachine{Machine: l.Machine, At: t.time(v.failedAt), ExpiredAt: t.time(v.declaredLostAt), Back: -1}
	t.lost, t.out.Lost = append(t.lost, v), append(t.out.Lost, record)
}

// lossOf returns the failure with which an attempt, or its output, was lost; nil for none. A
// running attempt ends after the failure. An attempt whose output is lost is killed too, but
// with its old finish time. Its successor starts after the loss was declared, which
// distinguishes it from an attempt that was killed earlier.
func (t *resultBuilder) lossOf(task *wire.TaskStatus, n int) *failedMachine {
	a := task.Attempts[n]
	for i := range t.lost {
		v := &t.lost[i]
		if a.Machine != v.node || v.declaredLostAt == 0 || a.StartTime > v.failedAt {
			continue
		}
		again := n+1 < len(task.Attempts) && task.Attempts[n+1].StartTime >= v.declaredLostAt
		if ran := a.State == wire.AttemptState_ATTEMPT_KILLED && a.FinishTime > v.failedAt; ran || again {
			return v
		}
	}
	return nil
}

// recover records what was lost with an attempt, and the attempt that replaces it. The next
// attempt in the history is the recovery.
func (t *resultBuilder) recover(j *wire.JobStatus, task *wire.TaskStatus, n int, v *failedMachine) {
	a, record := task.Attempts[n], &t.out.Lost[v.record]
	if a.FinishTime <= v.failedAt {
		record.Outputs++
		record.Output += t.span(a.FinishTime - a.StartTime)
	} else {
		record.Running++
		record.WorkLost += t.span(v.failedAt - a.StartTime)
	}
	if n+1 == len(task.Attempts) {
		return
	}
	next, kind, number := task.Attempts[n+1], kindOf(task), numberOf(task.Id)
	t.out.Recovered = append(t.out.Recovered, sim.Recovery{
		Job: j.Name, Kind: kind, Task: number, Attempt: n + 1, Machine: slices.Index(t.run.machines, next.Machine),
		Local:     kind == cluster.MapSlot && t.run.blockHosts[j.Name].local(number, next.Machine),
		ExpiredAt: t.time(v.declaredLostAt), Start: t.time(next.StartTime),
	})
}
