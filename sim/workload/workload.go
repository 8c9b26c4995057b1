package workload

// DefaultSlowStart is the fraction of a job's maps that is finished before its
// reduces start, where the job does not say.
const DefaultSlowStart = 0.05

// Bounds of what a Workload may hold, so that sums of a whole one fit into 64
// bits and a slip of the pen does not take all memory.
const (
	MaxMillis = 1 << 37 // longest task and last submission, ms: four years
	MaxTasks  = 1 << 25 // tasks of all jobs together
	MaxBytes  = 1 << 60 // of all tasks together

	MinWeight, MaxWeight = 1e-9, 1e9 // of a job that has a weight
)

// Workload is a list of jobs, in order of submission.
type Workload struct {
	Name string // for people; of the file or spec that it was made of
	Jobs []Job

	Notes    []string        // what the reader assumed or left out, sentences for people
	Observed ObservedCluster // the cluster on which the jobs ran, as far as a log tells of it
}

// ObservedCluster is what attempts tell of the cluster that they ran on: it has at least
// that. Zero values are unknown.
type ObservedCluster struct {
	Machines              int // that ran attempts
	MapSlots, ReduceSlots int // most attempts of a kind that one of them ran at once
}

// Job is one job to submit.
type Job struct {
	ID     string // unique, not empty
	Submit int64  // ms of virtual time, from 0

	Name, Pool, User string  // "" when unknown
	Priority         int     // as cluster.JobSpec.Priority: 0 normal, 1 high, 2 very high, -1 low, -2 very low
	Weight           float64 // in its pool, MinWeight to MaxWeight; 0 is 1
	SlowStart        float64 // fraction of maps finished before reduces start; negative is DefaultSlowStart

	Class string // of the paper's table (small, medium, …), "" when there is none

	Maps, Reduces []Task // at least one map

	Recorded int64 // ms from submission to the end, where a log tells of it; 0 for unknown
}

// Task is one task of a job.
type Task struct {
	Millis int64 // it takes alone on an undisturbed slot: a map with its input local, a reduce behind the shuffle (sort and reduce)
	Bytes  int64 // input bytes of a map, shuffled bytes of a reduce
}

// EffectiveWeight is the weight with its default filled in.
func (j *Job) EffectiveWeight() float64 {
	if j.Weight == 0 {
		return 1
	}
	return j.Weight
}

// EffectiveSlowStart is the fraction with its default filled in.
func (j *Job) EffectiveSlowStart() float64 {
	if j.SlowStart < 0 {
		return DefaultSlowStart
	}
	return j.SlowStart
}

// Sum is the time of all tasks one after the other, and their bytes.
func Sum(tasks []Task) (total Task) {
	for _, t := range tasks {
		total.Millis += t.Millis
		total.Bytes += t.Bytes
	}
	return total
}

// LastSubmit is when the last job is submitted, 0 without jobs.
func (w *Workload) LastSubmit() int64 {
	if len(w.Jobs) == 0 {
		return 0
	}
	return w.Jobs[len(w.Jobs)-1].Submit
}

// Tasks is how many maps and reduces there are in all jobs.
func (w *Workload) Tasks() (maps, reduces int) {
	for i := range w.Jobs {
		maps += len(w.Jobs[i].Maps)
		reduces += len(w.Jobs[i].Reduces)
	}
	return maps, reduces
}
