package workload

import (
	"cmp"
	"math"
)

// DefaultSlowStart is the fraction of finished maps at which the reduces of a job start,
// unless the job sets another.
const DefaultSlowStart = 0.05

// Limits of a Workload, so that its sums fit into 64 bits and a typing error does not
// exhaust the memory.
const (
	MaxMillis = 1 << 37 // ms; longest task and last submission: four years
	MaxTasks  = 1 << 25 // tasks of all jobs together
	MaxBytes  = 1 << 60 // of all tasks together

	MaxMemoryMB = 1 << 30 // of a task or a machine, MiB
)

// Workload is a list of jobs by submission. It has no behaviour of a policy or a cluster,
// so that the same Workload runs under each of them.
type Workload struct {
	Name string // of the file or spec, for display
	Jobs []Job

	Notes    []string        // what the reader assumed or left out, for display
	Observed ObservedCluster // cluster on which the jobs ran, as far as a log shows it
}

// ObservedCluster is the least cluster on which the attempts of a log could run. Zero
// values are unknown. whatif uses it unless the user describes the cluster.
type ObservedCluster struct {
	Machines              int // with attempts
	MapSlots, ReduceSlots int // most attempts of a kind at the same time on one machine
}

// Job is a job to submit.
//
// Tasks are in the order of the job's splits and partitions. Their times hold for a slot on an
// idle machine; the simulator adds remote reads, shuffles and failures.
type Job struct {
	ID     string // unique, not empty
	Submit int64  // ms of virtual time, from 0

	Name, Pool, User string  // "" if unknown
	Priority         int     // as cluster.JobSpec.Priority: 0 normal, 1 high, 2 very high, -1 low, -2 very low
	SlowStart        float64 // fraction of finished maps at which reduces start; negative is DefaultSlowStart

	MemoryMB [2]int64 // memory of a map and of a reduce, MiB; 0 is DefaultMemoryMB

	Class string // of the paper's table (small, medium, …), "" for none

	Maps, Reduces []Task // at least one map

	OutputBytes int64 // written by the job; 0 if unknown. The simulator does not read it

	Recorded int64 // ms from submission to the end on a real cluster; 0 if unknown
}

// Task is one task of a job. A time of 0 is valid: the task ends at once.
type Task struct {
	Millis int64 // time alone on an undisturbed slot, with local input; of a reduce without the shuffle
	Bytes  int64 // input bytes of a map, shuffled bytes of a reduce
}

// EffectiveSlowStart returns the slow start, or its default.
func (j *Job) EffectiveSlowStart() float64 {
	if j.SlowStart < 0 {
		return DefaultSlowStart
	}
	return j.SlowStart
}

// DefaultMemoryMB is the memory of a task whose workload names none, in MiB: the default of
// mapreduce.map.memory.mb and mapreduce.reduce.memory.mb.
const DefaultMemoryMB = 1024

// EffectiveMemoryMB returns the memory of maps and reduces, or its default.
func (j *Job) EffectiveMemoryMB() [2]int64 {
	return [2]int64{cmp.Or(j.MemoryMB[0], DefaultMemoryMB), cmp.Or(j.MemoryMB[1], DefaultMemoryMB)}
}

// Sum adds up the times and the bytes of tasks.
func Sum(tasks []Task) (total Task) {
	for _, t := range tasks {
		total.Millis += t.Millis
		total.Bytes += t.Bytes
	}
	return total
}

// LastSubmit returns the time of the last submission in ms of virtual time, 0 without jobs.
func (w *Workload) LastSubmit() int64 {
	if len(w.Jobs) == 0 {
		return 0
	}
	return w.Jobs[len(w.Jobs)-1].Submit
}

// Tasks counts the maps and reduces of all jobs.
func (w *Workload) Tasks() (maps, reduces int) {
	for i := range w.Jobs {
		maps += len(w.Jobs[i].Maps)
		reduces += len(w.Jobs[i].Reduces)
	}
	return maps, reduces
}

// OfferedLoad returns the work of all jobs divided by the work that the slots can do until
// the last arrival, for maps and for reduces. Above 1 the queue grows while jobs arrive.
// Shuffles are not part of a task's time and do not count. Without slots, or if all jobs
// arrive at 0, it is +Inf; without work it is 0.
func (w *Workload) OfferedLoad(mapSlots, reduceSlots int) (maps, reduces float64) {
	var mapWork, reduceWork float64
	for i := range w.Jobs {
		mapWork += float64(Sum(w.Jobs[i].Maps).Millis)
		reduceWork += float64(Sum(w.Jobs[i].Reduces).Millis)
	}
	span := float64(w.LastSubmit())
	return load(mapWork, span*float64(mapSlots)), load(reduceWork, span*float64(reduceSlots))
}

// load returns the ratio, with the rules of OfferedLoad for its limits.
func load(work, capacity float64) float64 {
	switch {
	case work == 0:
		return 0
	case capacity <= 0:
		return math.Inf(1)
	}
	return work / capacity
}
