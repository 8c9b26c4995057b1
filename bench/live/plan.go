package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// Job is a job to submit at a time. Name is the job's name on the master; histories are
// matched by it.
type Job struct {
	Name string        // unique in its plan; also the job's name on the cluster
	At   time.Duration // since the start of the run
	Args []string      // arguments of hammr submit, starting with the program
	Out  string        // the last argument, a directory for output; "" for none

	blockHosts blockHosts // hosts of its maps' input; nil if the maps read none
}

// Plan is a workload of jobs in the order in which they are submitted.
type Plan struct {
	Name      string
	Jobs      []Job
	Failures  []sim.Failure // their times are those of the clock
	StopAfter string        // the job at whose end the others are killed; "" to wait for all

	ReduceTimes map[string]time.Duration // how long the function of a job's reduces takes; not of jobs where it is unknown
}

// Run is the outcome of a plan. It has only the masters' records; Result computes numbers
// from them.
type Run struct {
	Begin        time.Time
	Jobs         []*wire.JobStatus // as they ended, in the order of the plan
	LostMachines []LostMachine     // in order of time

	machines   []string              // names of the tasknodes, by number
	blockHosts map[string]blockHosts // hosts of the jobs' input, by job name
}

// Run submits the jobs of a plan at their times, makes machines fail, and waits until all
// jobs have ended. It keeps histories and logs in a directory, "" for none. A job that fails is an
// error, and so is a machine that did not fail, because the jobs ended too early: the numbers would
// be those of another experiment.
//
//	startFailures ┐
//	submitAll ────┼─► await ends ─► stop failures ─► ask for the jobs ─► Run
//	              └─ with StopAfter: kill the others when that job has ended
func (c *Cluster) Run(ctx context.Context, p Plan, keep string) (*Run, error) {
	background := ctx // cancel ends the failures only
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &Run{Begin: time.Now(), machines: c.tasknodes, blockHosts: make(map[string]blockHosts)}
	for _, j := range p.Jobs {
		r.blockHosts[j.Name] = j.blockHosts
	}
	// Failures run concurrently with the submissions, on the same clock.
	failures := c.startFailures(ctx, p, r.Begin)
	ids, err := c.submitAll(ctx, p, r.Begin)
	if err == nil {
		err = c.await(ctx, p, ids)
	}
	cancel() // failures that are still pending never happen
	lost, failed := failures()
	if err = errors.Join(err, failed); err == nil {
		r.LostMachines = lost
		if r.Jobs, err = c.jobs(background, ids); err == nil {
			err = r.failed()
		}
	}
	if err == nil && keep != "" {
		err = c.keep(background, r, keep)
	}
	if err == nil && len(lost) != len(p.Failures) {
		err = fmt.Errorf("%d machines of %d failed before all jobs were over", len(lost), len(p.Failures))
	}
	return r, err
}

// submitAll submits the jobs at their times, and returns their ids. A submission that takes
// longer than the gap to the next job delays that job; plans are slow enough for that not
// to matter.
func (c *Cluster) submitAll(ctx context.Context, p Plan, begin time.Time) (ids []string, err error) {
	for _, j := range p.Jobs {
		select {
		case <-ctx.Done():
			return ids, context.Cause(ctx)
		case <-time.After(time.Until(begin.Add(j.At))):
		}
		args := slices.Clone(j.Args)
		if j.Out != "" {
			args = append(args, j.Out)
		}
		id, err := c.submit(ctx, args...)
		if err != nil {
			return ids, fmt.Errorf("job %s: %w", j.Name, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// await waits until all jobs have ended.
func (c *Cluster) await(ctx context.Context, p Plan, ids []string) error {
	last := slices.IndexFunc(p.Jobs, func(j Job) bool { return j.Name == p.StopAfter })
	if last >= 0 {
		if err := c.awaitEnds(ctx, ids[last:last+1]); err != nil {
			return err
		}
		if err := c.killOthers(ctx, ids); err != nil {
			return err
		}
	}
	return c.awaitEnds(ctx, ids)
}

// killOthers kills the jobs that still run. A job that has ended meanwhile is no error.
func (c *Cluster) killOthers(ctx context.Context, ids []string) error {
	running, err := docs.AllJobs.From(ctx, c.Client(), docs.AllQuery{})
	for _, j := range running {
		if err == nil && slices.Contains(ids, j.JobID) {
			err = c.Client().Kill(ctx, j.JobID, "the experiment is over")
		}
	}
	return err
}

// endInterval is the time between two questions which jobs run. The leader answers them from its
// state, in microseconds.
const endInterval = 100 * time.Millisecond

// awaitEnds waits until none of the jobs runs.
func (c *Cluster) awaitEnds(ctx context.Context, ids []string) error {
	left := len(ids)
	err := syncutil.Poll(ctx, endInterval, func(ctx context.Context) (bool, error) {
		running, err := docs.AllJobs.From(ctx, c.Client(), docs.AllQuery{})
		if left = 0; err != nil {
			return false, err
		}
		for _, j := range running {
			if slices.Contains(ids, j.JobID) {
				left++
			}
		}
		return left == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d jobs of %d have not ended: %w\n%s", left, len(ids), err, c.LogEnds(2000))
	}
	return nil
}

// jobs returns jobs as they ended, in the order of ids.
func (c *Cluster) jobs(ctx context.Context, ids []string) (list []*wire.JobStatus, err error) {
	for _, id := range ids {
		j, err := docs.Status.From(ctx, c.Client(), docs.JobID{Job: id})
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

// failed names the first job that neither succeeded nor was killed. A job that was killed
// by StopAfter is no failure.
func (r *Run) failed() error {
	for _, j := range r.Jobs {
		if j.State != wire.JobState_SUCCEEDED && j.State != wire.JobState_KILLED {
			return fmt.Errorf("job %s (%s) is %v: %s", j.Name, j.JobId, j.State, j.Cause)
		}
	}
	return nil
}

// blockHostsFile is the name of a JSON file. By job name, it lists the machines with the
// input of each map in order.
const blockHostsFile = "homes.json"

// keep writes the histories of a run and the logs of the daemons into a directory, which it
// creates. If maps have read HDFS, it also writes where their input was. With these files a
// result can be examined after the cluster is removed.
func (c *Cluster) keep(ctx context.Context, r *Run, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := c.keepHistories(ctx, r.Jobs, dir); err != nil {
		return err
	}
	if err := c.keepLogs(ctx, dir); err != nil {
		return err
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(r.blockHosts)), func(h blockHosts) bool { return h != nil }) {
		return nil
	}
	return jsonfile.Write(filepath.Join(dir, blockHostsFile), r.blockHosts, 0o666)
}

// historyTimeout is how long after the end of a job its history may be written.
const historyTimeout = 30 * time.Second

// keepHistories copies the histories of jobs, which masters write when a job has ended.
func (c *Cluster) keepHistories(ctx context.Context, jobs []*wire.JobStatus, dir string) error {
	args := []string{"fs", "-get", "-f"}
	for _, j := range jobs {
		args = append(args, c.histories+"/*/"+j.JobId+history.CompressedSuffix)
	}
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	var last error
	err := syncutil.Poll(ctx, time.Second, func(ctx context.Context) (bool, error) {
		_, last = c.Program().Run(ctx, append(args, dir)...)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("histories: %w", errors.Join(err, last))
	}
	return nil
}

// keepLogs copies the logs of the daemons.
func (c *Cluster) keepLogs(ctx context.Context, dir string) error {
	if c.ssh != nil {
		return c.ssh.CollectLogs(ctx, dir)
	}
	logs, err := filepath.Glob(filepath.Join(c.Logs(), "*"))
	for _, name := range logs {
		err = errors.Join(err, copyFile(name, filepath.Join(dir, filepath.Base(name))))
	}
	return err
}

// copyFile copies a regular file, which may grow meanwhile. It skips everything but regular
// files.
func copyFile(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

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

// evenJob returns a job whose tasks of a phase take the same time, in ms.
func evenJob(id string, maps int, mapMillis int64, reduces int, reduceMillis int64) workload.Job {
	return workload.Job{
		ID: id, SlowStart: -1,
		Maps:    slices.Repeat([]workload.Task{{Millis: mapMillis}}, maps),
		Reduces: slices.Repeat([]workload.Task{{Millis: reduceMillis}}, reduces),
	}
}

// wordcountJob returns a word count of a directory or a file, with a map for each split, and a sort
// buffer for inputs of some KiB.
func wordcountJob(j *workload.Job, fast float64, in, out string, settings ...string) Job {
	args := append([]string{"wordcount"}, properties(j)...)
	settings = append(settings, "hammr.input.combine=false", "mapreduce.task.io.sort.mb=8", fmt.Sprint("mapreduce.job.reduces=", len(j.Reduces)))
	for _, set := range settings {
		args = append(args, "-D", set)
	}
	return Job{Name: j.ID, At: submitTime(j, fast), Args: append(args, in), Out: out}
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
