package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// TaskResult is the outcome of an attempt.
type TaskResult struct {
	Job     string       // id in the workload
	Kind    cluster.Slot // phase of the task
	Task    int          // number of the task in its phase
	Attempt int          // number of the attempt in its task
	Machine int          // number of the machine

	Start, End int64 // End is the time of the command that ended the attempt; -1 for never
	Suspended  int64 // ms in suspension
	Local      bool  // it is a map on a machine with its input
	Outcome    Outcome
	Fraction   float64 // of the original task that it had to do, or did if it succeeded
}

// Outcome is how an attempt ended.
type Outcome string

// Outcomes of attempts, as in tasks.csv.
const (
	Finished     Outcome = "finished"
	SplitOff     Outcome = "split"       // it finished a part; the rest became a new task
	Checkpointed Outcome = "checkpoint"  // its checkpoint keeps its work
	Killed       Outcome = "killed"      // its work was lost
	MachineLost  Outcome = "lost"        // its machine failed
	OutputLost   Outcome = "output lost" // it finished, and its output was lost or corrupted while it was needed
)

// taskResults lists the attempts of a job.
func (b *body) taskResults(j *job) (list []TaskResult) {
	s := b.view.Job(j.id)
	for stage, a := range s.Attempts() {
		t := stage.Tasks[a.ID.Task.Number]
		list = append(list, TaskResult{
			Job: j.in.ID, Kind: phaseOf(a.ID), Task: t.ID.Number, Attempt: a.ID.Number, Machine: b.byName[a.Machine].number,
			Start: a.StartedAt - epoch, End: sinceStart(a.EndedAt), Suspended: a.SuspendedMillis,
			Local: j.isLocal(s, t, b.view.Machine(a.Machine)), Outcome: j.outcome(a), Fraction: j.fractionOf(t, a),
		})
	}
	return list
}

func (j *job) isLocal(s *cluster.Job, t *cluster.Task, m *cluster.Machine) bool {
	return t.Split >= 0 && s.IsLocal(t, m)
}

// The order of cases matters: an output that was lost belongs to an attempt that finished.
func (j *job) outcome(a *cluster.Attempt) Outcome {
	switch {
	case a.Status() == cluster.StatusSucceeded && a.PreemptRequested() && a.PreemptMode == preempt.Split:
		return SplitOff
	case a.Status() == cluster.StatusSucceeded:
		return Finished
	case a.WorkKept():
		return Checkpointed
	case j.revoked[a.ID]:
		return OutputLost
	case a.Lost():
		return MachineLost
	}
	return Killed
}

// fractionOf returns the fraction of the original task that an attempt had to do.
func (j *job) fractionOf(t *cluster.Task, a *cluster.Attempt) float64 {
	if !t.Ranged {
		return 1
	}
	r := a.Range
	if t.Winner == a {
		r = t.Range
	}
	return float64(r.End.Offset-r.Start.Offset) / float64(lengthOf(j.in.Maps[t.Part]))
}
