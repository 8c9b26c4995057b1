package live

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/sim/workload"
)

// A task's sleep is divided into parts, between which it can be preempted.
const (
	parts    = 50
	partMost = 100 * time.Millisecond
	partLess = 5 * time.Millisecond
)

// SleepingPlan returns a plan of jobs that sleep. They have as many tasks as the workload,
// which take the mean of its times divided by fast. Equal tasks are what `hammr run sleep`
// offers; the spread of task times is lost.
func SleepingPlan(w *workload.Workload, fast float64) Plan {
	p := Plan{Name: w.Name}
	for i := range w.Jobs {
		p.Jobs = append(p.Jobs, sleepingJob(&w.Jobs[i], fast))
	}
	return p
}

// A task is divided into at least a few records, so that a split or a checkpoint finds a
// place between two of them.
func sleepingJob(j *workload.Job, fast float64) Job {
	mapTime, reduceTime := Mean(j.Maps)/fast, Mean(j.Reduces)/fast
	longest := time.Duration(max(mapTime, reduceTime) * float64(time.Millisecond))
	part := min(max(longest/parts, partLess), partMost)
	args := append([]string{"sleep"}, properties(j)...)
	args = append(args, "-m", fmt.Sprint(len(j.Maps)), "-mt", fmt.Sprint(int64(mapTime)), "-r", fmt.Sprint(len(j.Reduces)),
		"-rt", fmt.Sprint(int64(reduceTime)), "-recordt", fmt.Sprint(part.Milliseconds()))
	return Job{Name: j.ID, At: submitTime(j, fast), Args: args}
}

// submitTime returns when a job is submitted. It counts from the start of the run.
func submitTime(j *workload.Job, fast float64) time.Duration {
	return time.Duration(float64(j.Submit) / fast * float64(time.Millisecond))
}

// properties returns the properties of a job, whatever its program. A priority that Hadoop
// does not have becomes Hadoop's highest or lowest.
func properties(j *workload.Job) (args []string) {
	set := func(name, value string) { args = append(args, "-D", name+"="+value) }
	set(conf.JobName, j.ID)
	set("mapreduce.job.reduce.slowstart.completedmaps", strconv.FormatFloat(j.EffectiveSlowStart(), 'g', -1, 64))
	if j.Pool != "" {
		set(conf.JobQueue, j.Pool)
	}
	if j.Priority != 0 {
		set("mapreduce.job.priority", priorities[min(max(j.Priority, -2), 2)+2])
	}
	return args
}

var priorities = [5]string{"VERY_LOW", "LOW", "NORMAL", "HIGH", "VERY_HIGH"}

// Mean returns the mean time of tasks in ms; 0 for none.
func Mean(tasks []workload.Task) float64 {
	return float64(workload.Sum(tasks).Millis) / float64(max(len(tasks), 1))
}
