package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
)

// Limits bound what jobs may occupy in the state. Each master has the state in memory and
// replays the log at its start, so a job beyond them must not get into the log. All fields
// are at least 1.
type Limits struct {
	Stages      int `cbor:"1,keyasint"`  // stages of a job's graph; it may have ten times as many edges
	TasksPerJob int `cbor:"2,keyasint"`  // Nodes of a job, and its tasks after splits of tasks
	Tasks       int `cbor:"3,keyasint"`  // tasks of all unfinished jobs
	JobsPerUser int `cbor:"4,keyasint"`  // unfinished jobs of a user
	Jobs        int `cbor:"5,keyasint"`  // unfinished jobs
	Splits      int `cbor:"6,keyasint"`  // splits of a job
	Partitions  int `cbor:"7,keyasint"`  // Nodes of a stage among which another stage divides its records
	Pieces      int `cbor:"8,keyasint"`  // files that an attempt writes for the job's output
	SpecBytes   int `cbor:"9,keyasint"`  // length of a submission without its splits
	Counters    int `cbor:"10,keyasint"` // counters of users' groups that a job may allow itself

	CounterGroups int `cbor:"11,keyasint"` // users' groups of counters that a job may allow itself
}

// DefaultLimits returns the limits of a cluster that has set none.
func DefaultLimits() Limits {
	return Limits{
		Stages: 1_000, TasksPerJob: 1_000_000, Tasks: 10_000_000, JobsPerUser: 1_000, Jobs: 10_000,
		Splits: 1_000_000, Partitions: 100_000, Pieces: 10_000, SpecBytes: 8 << 20, Counters: 10_000, CounterGroups: 1_000,
	}
}

// Counters of the engine itself, which a job may have in addition to those of users. There are
// about 60, and 5 for each file system, in 6 groups.
const (
	engineCounters      = 512
	engineCounterGroups = 16
)

// maxUserBytes bounds the names of the user, the pool and the method of placement of a job.
const maxUserBytes = 256

// namedLimit is a limit with the property that sets it.
type namedLimit struct {
	property string
	value    *int
}

// named lists the limits.
func (l *Limits) named() []namedLimit {
	return []namedLimit{
		{"hammr.limits.stages", &l.Stages}, {"hammr.limits.tasks.per.job", &l.TasksPerJob}, {"hammr.limits.tasks", &l.Tasks},
		{"hammr.limits.jobs.per.user", &l.JobsPerUser}, {"hammr.limits.jobs", &l.Jobs}, {"hammr.limits.splits", &l.Splits},
		{"hammr.limits.partitions", &l.Partitions}, {"hammr.limits.pieces", &l.Pieces}, {"hammr.limits.spec.bytes", &l.SpecBytes},
		{"hammr.limits.counters", &l.Counters}, {"hammr.limits.counter.groups", &l.CounterGroups},
	}
}

// Validate reports every limit that is not at least 1.
func (l Limits) Validate() error {
	var errs []error
	for _, each := range l.named() {
		if *each.value < 1 {
			errs = append(errs, fmt.Errorf("cluster: limit %s of %d; it has to be at least 1", each.property, *each.value))
		}
	}
	return errors.Join(errs...)
}

// ReadLimits returns the limits that a configuration sets: value returns the number that a
// property has.
func ReadLimits(value func(property string) int) (l Limits) {
	for _, each := range l.named() {
		*each.value = value(each.property)
	}
	return l
}

// errExceeds returns an error if n exceeds a limit. what says which number n is.
func (l *Limits) errExceeds(n int, limit *int, what string) error {
	if n <= *limit {
		return nil
	}
	i := slices.IndexFunc(l.named(), func(each namedLimit) bool { return each.value == limit })
	property := l.named()[i].property
	return fmt.Errorf("cluster: %d %s exceed the limit of %d; raise %s in the masters' configuration if that is intended", n, what, *limit, property)
}

// CheckSpec reports every limit that a submission exceeds by itself. It does not need a valid
// graph, and its cost does not depend on the numbers in the graph. It also bounds the texts of a
// submission.
func (l Limits) CheckSpec(s JobSpec) error {
	nodes, partitions := 0, 0
	for _, stage := range s.Graph.Stages {
		nodes += min(max(stage.Nodes, 0), dag.MaxNodes)
	}
	errs := []error{
		l.errExceeds(max(len(s.Document), s.textBytes()), &l.SpecBytes, "bytes of the job's specification"),
		l.errExceeds(len(s.Graph.Stages), &l.Stages, "stages"),
		l.errExceeds(nodes, &l.TasksPerJob, "tasks of the job"),
		l.errExceeds(s.MaxCounters, &l.Counters, "counters, which mapreduce.job.counters.limit allows the job,"),
		l.errExceeds(s.MaxCounterGroups, &l.CounterGroups, "groups of counters, which mapreduce.job.counters.groups.max allows the job,"),
		s.checkTexts(),
	}
	if edges := len(s.Graph.Edges); edges > 10*l.Stages {
		errs = append(errs, l.errExceeds(edges, &l.Stages, "edges (ten times as many as stages are allowed)"))
	}
	if err := errors.Join(errs...); err != nil {
		return err // what follows may take long for a graph that is too large
	}
	for _, e := range s.Graph.Edges {
		if to := s.Graph.StageIndex(e.To); to >= 0 && e.Connection == dag.AllToAll {
			partitions = max(partitions, s.Graph.Stages[to].Nodes)
		}
	}
	return errors.Join(
		l.errExceeds(partitions, &l.Partitions, "partitions (reduces)"),
		l.errExceeds(sourceNodes(s.Graph), &l.Splits, "splits"),
	)
}

// textBytes returns the length of the texts of a submission that are not in its graph. They are
// in Document too.
func (s JobSpec) textBytes() int {
	return len(s.Name) + len(s.User) + len(s.Pool) + len(s.OutputDir) + len(s.OutputKey) + len(s.Placement)
}

// checkTexts reports every text of a submission that is too long. The index of output
// directories has an entry for each parent of OutputKey, and an archived job keeps its user and
// pool, so these texts need lower limits than the whole submission.
func (s JobSpec) checkTexts() error {
	var errs []error
	for _, text := range []struct {
		what  string
		bytes int
		most  int
	}{
		{"name", len(s.Name), maxTextBytes},
		{"user", len(s.User), maxUserBytes},
		{"pool", len(s.Pool), maxUserBytes},
		{"method of placement", len(s.Placement), maxUserBytes},
		{"output directory", max(len(s.OutputDir), len(s.OutputKey)), maxPathBytes},
	} {
		if text.bytes > text.most {
			errs = append(errs, fmt.Errorf("cluster: %s of %d bytes; a job's may have %d", text.what, text.bytes, text.most))
		}
	}
	return errors.Join(errs...)
}

// checkLimits reports every limit that a new job exceeds, by itself or together with the
// unfinished jobs.
func (s *State) checkLimits(spec JobSpec) error {
	if err := s.Limits.CheckSpec(spec); err != nil {
		return err
	}
	jobs, own, tasks := 1, 1, 0
	for _, stage := range spec.Graph.Stages {
		tasks += max(stage.Nodes, 0)
	}
	for j := range s.View().Jobs() {
		if j.State.Final() {
			continue
		}
		jobs++
		tasks += j.taskCount()
		if j.Spec.User == spec.User {
			own++
		}
	}
	l := s.Limits
	return errors.Join(
		l.errExceeds(own, &l.JobsPerUser, fmt.Sprintf("unfinished jobs of user %q", spec.User)),
		l.errExceeds(jobs, &l.Jobs, "unfinished jobs"),
		l.errExceeds(tasks, &l.Tasks, "tasks of unfinished jobs"),
	)
}

// taskCount returns the number of tasks of all stages.
func (j *Job) taskCount() (n int) {
	for _, stage := range j.Stages {
		n += len(stage.Tasks)
	}
	return n
}

// Limits returns the limits of the cluster.
func (v View) Limits() Limits { return v.s.Limits }

// CheckLimits reports every limit that a submission exceeds now.
func (v View) CheckLimits(spec JobSpec) error { return v.s.checkLimits(spec) }
