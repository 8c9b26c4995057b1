package sim

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim/workload"
)

// Result is the outcome of a run. Times are in ms since its start. A Result is complete
// even if the run ended with ErrStuck: jobs that have not finished have Finish -1.
type Result struct {
	Jobs   []JobResult // in order of submission
	End    int64       // when the last job finished
	Steps  int64       // of the controller
	Events int64       // actions of the model

	Preempted []Preemption  // by time
	Lost      []LostMachine // by time of failure
	Recovered []Recovery    // by start
	Elections []int64       `json:"Leads"` // when masters became the leader

	Tasks []TaskResult // with Config.Tasks, by job, phase, task and attempt
	// BelowShare is the longest time in ms for which a user was below its share, with
	// Config.UserShares.
	BelowShare int64 `json:",omitempty"`

	Series []Sample // with Config.Series, by time
}

// JobResult is the outcome of a job. Times are in ms since the start of the run.
type JobResult struct {
	ID, Pool, Class string
	State           cluster.JobState

	Submit, Start, Finish int64 // Start is the start of the first task, -1 for none

	Maps, Reduces int
	LocalMaps     int // maps whose winners all ran on a machine with their input
	Preemptions   int
	WorkLost      int64 // ms of slot time that preemption threw away
	WorkConserved int64 // ms of slot time that preempted attempts kept

	// Start of the first and end of the last task of each phase; -1 for never.
	MapStart, MapFinish, ReduceStart, ReduceFinish int64

	// Alone is the least time of the job alone on the cluster: for each phase the longest
	// task, or all tasks spread evenly over all slots, whichever is more. There is no
	// shuffle.
	Alone int64

	// OutputError says which work of a successful job is missing from its output or there
	// twice; "" for none. Config.CheckInvariants asks for the check.
	OutputError string `json:"Wrong"`
}

// Sojourn returns the time from submission to the end of the job, in ms.
func (r *JobResult) Sojourn() int64 { return r.Finish - r.Submit }

// Slowdown returns the sojourn time over Alone, of which it assumes at least 1 ms.
func (r *JobResult) Slowdown() float64 { return float64(r.Sojourn()) / float64(max(r.Alone, 1)) }

func (b *body) result() *Result {
	b.sample()
	r := &Result{
		End: b.time(), Steps: b.steps, Events: b.eventCount,
		Preempted: b.account.preempted, Recovered: b.account.recovered, Series: b.series.samples,
		BelowShare: b.userShares.longest(),
		Elections:  b.masters.elections,
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

// Times in the state start at epoch and are converted here.
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

// lastFinish returns the end of the last finished task of a stage, even if its output was lost
// later; 0 for none.
func (j *job) lastFinish(stage *cluster.Stage) (at int64) {
	for t, a := range stage.Attempts() {
		if a == t.Winner || j.revoked[a.ID] {
			at = max(at, a.EndedAt)
		}
	}
	return at
}

// sinceStart converts a time of the state to ms since the start of the run; never is -1.
func sinceStart(at int64) int64 {
	if at == 0 {
		return -1
	}
	return at - epoch
}

// localMaps counts the maps whose parts all have a winner on a machine with their input. A
// map that was split has several parts.
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

// Alone computes JobResult.Alone of a job on this cluster, in ms.
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

// Summary is a run in a few numbers. Times are in seconds.
type Summary struct {
	Jobs            int
	Mean            float64 // of the sojourn times
	P50, P95, P99   float64 // of the sojourn times, by nearest rank
	Slowdown        float64 // mean
	Local           float64 // fraction of the maps that were local
	Preemptions     int
	Lost, Conserved float64 // slot time
	End             float64
}

// Summary computes the summary of a run.
func (r *Result) Summary() Summary {
	s := Summary{Jobs: len(r.Jobs), End: float64(r.End) / 1000}
	var sojourns []float64
	maps, local := 0, 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		sojourns = append(sojourns, float64(j.Sojourn())/1000)
		s.Slowdown += j.Slowdown() / float64(len(r.Jobs))
		maps, local = maps+j.Maps, local+j.LocalMaps
		s.Preemptions += j.Preemptions
		s.Lost += float64(j.WorkLost) / 1000
		s.Conserved += float64(j.WorkConserved) / 1000
	}
	for _, t := range sojourns {
		s.Mean += t / float64(len(sojourns))
	}
	s.P50, s.P95, s.P99 = percentile.Of(sojourns, 50), percentile.Of(sojourns, 95), percentile.Of(sojourns, 99)
	s.Local = float64(local) / float64(max(maps, 1))
	return s
}

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
