package sim

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim/workload"
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
	Elections []int64       `json:"Leads"` // when masters began to lead

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

	// When the first task of a phase started, and when the last one finished;
	// -1 where that never came.
	MapStart, MapFinish, ReduceStart, ReduceFinish int64

	// Alone is the least time that it takes on the cluster with nobody else
	// there: the longest map, or all maps spread evenly over all slots, and
	// likewise for reduces, one phase behind the other.
	Alone int64

	// OutputError is, of a job that has succeeded, what of its work is in its output not
	// once; "" for nothing. It is looked for with Config.CheckInvariants.
	OutputError string `json:"Wrong"`
}

// Sojourn is the time from submission to the end, in ms.
func (r *JobResult) Sojourn() int64 { return r.Finish - r.Submit }

// Slowdown is the sojourn time over the time that the job takes alone, at least
// a millisecond.
func (r *JobResult) Slowdown() float64 { return float64(r.Sojourn()) / float64(max(r.Alone, 1)) }

func (b *body) result() *Result {
	b.sample()
	r := &Result{
		End: b.time(), Steps: b.steps, Events: b.eventCount,
		Preempted: b.account.preempted, Recovered: b.account.recovered, Series: b.series.samples,
		Elections: b.masters.elections,
	}
	for _, l := range b.account.lost {
		r.Lost = append(r.Lost, *l)
	}
	place := make(map[string]int, len(b.submitted))
	for i, j := range b.submitted {
		place[j.in.ID] = i
		if b.view.Job(j.id) == nil {
			r.Jobs = append(r.Jobs, JobResult{ID: j.in.ID, Submit: j.in.Submit, Start: -1, Finish: -1})
			continue
		}
		r.Jobs = append(r.Jobs, b.jobResult(j))
		if b.cfg.Tasks {
			r.Tasks = append(r.Tasks, b.taskResults(j)...)
		}
	}
	for _, p := range r.Preempted {
		j := &r.Jobs[place[p.Job]]
		j.Preemptions++
		j.WorkLost += p.Lost
		j.WorkConserved += p.Conserved
	}
	slices.SortStableFunc(r.Jobs, func(a, b JobResult) int { return cmp.Compare(a.Submit, b.Submit) })
	return r
}

func (b *body) jobResult(j *job) JobResult {
	s := b.view.Job(j.id)
	out := JobResult{
		ID: j.in.ID, Pool: s.Spec.Pool, Class: j.in.Class, State: s.State,
		Submit: s.SubmittedAt - epoch, Start: -1, Finish: sinceStart(s.FinishedAt),
		Maps: len(j.in.Maps), Reduces: len(j.in.Reduces), LocalMaps: b.localMaps(j), Alone: b.alone(j),
		ReduceStart: -1, ReduceFinish: -1,
	}
	out.MapStart, out.MapFinish = sinceStart(s.Stages[0].StartedAt), sinceStart(j.lastFinish(s.Stages[0]))
	if len(s.Stages) > 1 {
		out.ReduceStart, out.ReduceFinish = sinceStart(s.Stages[1].StartedAt), sinceStart(j.lastFinish(s.Stages[1]))
	}
	out.Start = out.MapStart
	if b.cfg.CheckInvariants && s.State == cluster.JobSucceeded {
		out.OutputError = b.outputError(j, s)
	}
	return out
}

// lastFinish is when the last task of a stage finished, whatever became of its output;
// 0 for none.
func (j *job) lastFinish(stage *cluster.Stage) (at int64) {
	for _, t := range stage.Tasks {
		for _, a := range t.Attempts {
			if a == t.Winner || j.revoked[a.ID] {
				at = max(at, a.EndedAt)
			}
		}
	}
	return at
}

// sinceStart is a time of the state in ms since the start of the run, -1 for never.
func sinceStart(at int64) int64 {
	if at == 0 {
		return -1
	}
	return at - epoch
}

// localMaps are the maps of which all parts that count ran where their input is.
func (b *body) localMaps(j *job) int {
	s := b.view.Job(j.id)
	local := make([]bool, len(j.in.Maps))
	for i := range local {
		local[i] = true
	}
	for _, t := range s.Stages[0].Tasks {
		if t.Winner == nil || !s.IsLocal(t, b.view.Machine(t.Winner.Machine)) {
			local[t.Part] = false
		}
	}
	n := 0
	for _, is := range local {
		if is {
			n++
		}
	}
	return n
}

func (b *body) alone(j *job) int64 { return b.cfg.Alone(j.in) }

// Alone is what JobResult.Alone is of a job on this cluster, in ms.
func (c *Config) Alone(j *workload.Job) int64 {
	phase := func(tasks []workload.Task, slots int) (sum int64) {
		var longest int64
		for _, t := range tasks {
			sum, longest = sum+t.Millis, max(longest, t.Millis)
		}
		return max(longest, sum/int64(max(1, slots*c.Machines)))
	}
	reduceSlots := c.ReduceSlots
	if c.SharedSlots {
		reduceSlots = c.MapSlots
	}
	return phase(j.Maps, c.MapSlots) + phase(j.Reduces, reduceSlots)
}
