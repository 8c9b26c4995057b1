package real

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim"
)

// verdict is a machine that failed, and when it was given up; times are ms since
// the epoch.
type verdict struct {
	node   string
	failed int64
	at     int64 // 0 when no attempt tells of it
	record int   // place in Result.Lost
}

// noteLost finds when a machine was given up: what ran there ends at that moment.
func (t *teller) noteLost(l Lost) {
	v := verdict{node: nodeName(l.Node), failed: l.At.UnixMilli(), record: len(t.out.Lost)}
	for _, j := range t.run.Jobs {
		for _, task := range j.Tasks {
			for _, a := range task.Attempts {
				if a.Node == v.node && a.State == wire.AttemptState_ATTEMPT_KILLED && a.FinishTime > v.failed && (v.at == 0 || a.FinishTime < v.at) {
					v.at = a.FinishTime
				}
			}
		}
	}
	record := sim.LostMachine{Node: l.Node, At: t.time(v.failed), Verdict: t.time(v.at), Back: -1}
	t.lost, t.out.Lost = append(t.lost, v), append(t.out.Lost, record)
}

// lossOf is the failure that an attempt, or the output of one, was lost with; nil
// for none. What ran ends behind the failure. Output that is lost has the attempt
// killed that wrote it, with the time at which it had finished: it is told from one
// that was killed earlier by the next one, which starts behind the verdict.
func (t *teller) lossOf(task *wire.TaskStatus, n int) *verdict {
	a := task.Attempts[n]
	for i := range t.lost {
		v := &t.lost[i]
		if a.Node != v.node || v.at == 0 || a.StartTime > v.failed {
			continue
		}
		again := n+1 < len(task.Attempts) && task.Attempts[n+1].StartTime >= v.at
		if ran := a.State == wire.AttemptState_ATTEMPT_KILLED && a.FinishTime > v.failed; ran || again {
			return v
		}
	}
	return nil
}

// recover notes what was lost with an attempt, and the attempt that came for it.
func (t *teller) recover(j *wire.JobStatus, task *wire.TaskStatus, n int, v *verdict) {
	a, record := task.Attempts[n], &t.out.Lost[v.record]
	if a.FinishTime <= v.failed {
		record.Outputs++
		record.Output += t.span(a.FinishTime - a.StartTime)
	} else {
		record.Running++
		record.WorkLost += t.span(v.failed - a.StartTime)
	}
	if n+1 == len(task.Attempts) {
		return
	}
	next, kind, number := task.Attempts[n+1], kindOf(task), numberOf(task.Id)
	t.out.Recovered = append(t.out.Recovered, sim.Recovery{
		Job: j.Name, Kind: kind, Task: number, Attempt: n + 1, Machine: machineOf(next.Node),
		Local:   kind == cluster.MapSlot && t.run.homes[j.Name].local(number, next.Node),
		Verdict: t.time(v.at), Start: t.time(next.StartTime),
	})
}

// machineOf is the number of a tasknode, from 0.
func machineOf(name string) int {
	for n := range maxNodes {
		if nodeName(n) == name {
			return n
		}
	}
	return -1
}

const maxNodes = 1000 // hammr up starts no more

// change is an attempt that gets a slot or gives it up.
type change struct {
	at        int64 // ms of the workload
	job, pool string
	kind      cluster.Slot
	more      int
}

func (t *teller) change(j *wire.JobStatus, kind cluster.Slot, a *wire.TaskStatus_Attempt) {
	c := change{t.time(a.StartTime), j.Name, j.Queue, kind, 1}
	t.changes = append(t.changes, c)
	if c.at, c.more = t.time(a.FinishTime), -1; c.at >= 0 {
		t.changes = append(t.changes, c)
	}
}
