package sim

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Result is what came of a workload. Times are ms since the start of the run.
type Result struct {
	Jobs   []JobResult // in order of submission
	End    int64       // when the last job was over
	Steps  int64       // of the controller
	Events int64       // that came to pass in the world around it

	Preempted []Preemption  // in order of time
	Lost      []LostMachine // in the order in which they failed
	Recovered []Recovery    // in order of start

	Tasks  []TaskResult // with Config.Tasks, in order of job, phase, task and attempt
	Series []Sample     // with Config.Series, in order of time
}

// JobResult is what became of a job. Times are ms since the start of the run.
type JobResult struct {
	ID, Pool, Class string
	State           cluster.JobState

	Submit, Start, Finish int64 // Start is that of the first task; -1 when none has started

	Maps, Reduces int
	LocalMaps     int // that ran where their input is, of the attempts that count
	Preemptions   int
	WorkLost      int64 // ms of slots that preemption threw away
	WorkConserved int64 // ms of slots that preempted attempts had run and kept

	// When the first task of a phase started, and when all had finished; -1 where
	// that never came.
	MapStart, MapFinish, ReduceStart, ReduceFinish int64

	// Alone is the least time that it takes on the cluster with nobody else
	// there: the longest map, or all maps spread evenly over all slots, and
	// likewise for reduces, one phase behind the other.
	Alone int64
}

// Sojourn is the time from submission to the end, in ms.
func (r *JobResult) Sojourn() int64 { return r.Finish - r.Submit }

// Slowdown is the sojourn time over the time that the job takes alone, at least
// a millisecond.
func (r *JobResult) Slowdown() float64 { return float64(r.Sojourn()) / float64(max(r.Alone, 1)) }

func (b *body) result() *Result {
	r := &Result{End: b.time(), Steps: b.steps}
	for _, j := range b.order {
		s := b.view.Job(j.id)
		out := JobResult{
			ID: j.in.ID, Pool: s.Spec.Pool, Class: j.in.Class, State: s.State,
			Submit: s.SubmittedAt - epoch, Start: -1, Finish: s.FinishedAt - epoch,
			Maps: len(j.in.Maps), Reduces: len(j.in.Reduces),
			Preemptions: j.preemptions, WorkLost: j.lost, WorkConserved: j.conserved, Alone: b.alone(j),
		}
		for _, stage := range s.Stages {
			for _, t := range stage.Tasks {
				if t.Winner != nil && j.local[t.Winner.ID] {
					out.LocalMaps++
				}
			}
			if stage.StartedAt > 0 && (out.Start < 0 || stage.StartedAt-epoch < out.Start) {
				out.Start = stage.StartedAt - epoch
			}
		}
		r.Jobs = append(r.Jobs, out)
	}
	slices.SortStableFunc(r.Jobs, func(a, b JobResult) int { return cmp.Compare(a.Submit, b.Submit) })
	return r
}

func (b *body) alone(j *job) int64 {
	phase := func(times []int64, slots int) int64 {
		var sum, longest int64
		for _, t := range times {
			sum, longest = sum+t, max(longest, t)
		}
		return max(longest, sum/int64(max(1, slots*b.cfg.Nodes)))
	}
	var maps, reduces []int64
	for _, t := range j.in.Maps {
		maps = append(maps, t.Millis)
	}
	for _, t := range j.in.Reduces {
		reduces = append(reduces, t.Millis)
	}
	return phase(maps, b.cfg.MapSlots) + phase(reduces, b.cfg.ReduceSlots)
}
