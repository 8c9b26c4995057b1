package mr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/storage"
)

// Task is the attempt that user code runs in. It is valid until the attempt ends.
type Task struct {
	node     *task.NodeRun                      // the Node that the attempt runs
	stage    *stage                             // nil in a Job
	config   any                                // the decoded configuration; nil if the job has none
	location func() (file string, offset int64) // locates the current record; nil if there is none
	named    map[string]closer                  // open outputs by name; nil in a combiner
	totals   map[string]*Counter                // what Total has returned, by name; nil before the first
}

// Counter is a number that is summed over all tasks of the job.
type Counter = counter.Counter

// Context returns a context that ends when the attempt must end. Long work in one call
// should watch it.
func (t *Task) Context() context.Context { return t.node.Attempt.Context() }

// ID returns the attempt's id, as in attempt_1700000000000_0001_m_000000_0.
func (t *Task) ID() string { return t.node.Attempt.Start.AttemptId }

// Part returns the number in the names of the task's output files. In a graph it is the
// number of the Node in its stage.
func (t *Task) Part() int { return t.node.Number() }

// Reduces returns the number of reduce tasks of the job, mapreduce.job.reduces.
func (t *Task) Reduces() int { return int(t.node.Attempt.Start.Reduces) }

// Stage returns the name of the stage whose Node the task runs. In a Job it is "map" or
// "reduce".
func (t *Task) Stage() string { return t.node.Stage() }

// Nodes returns the number of Nodes of the stage.
func (t *Task) Nodes() int { return t.node.Nodes() }

// Counter returns the counter of that group and name. Keep the result: a call per record is
// slow.
func (t *Task) Counter(group, name string) *Counter {
	return t.node.Attempt.Counters.Counter(counter.ID{Group: group, Name: name})
}

// Total returns the number of that name that this Node adds up for Stage.Totals. The engine
// reads it when the Node ends. A combiner has no totals, since it may run any number of times:
// what it adds is dropped.
func (t *Task) Total(name string) *Counter {
	total := t.totals[name]
	if total == nil {
		if t.totals == nil {
			t.totals = make(map[string]*Counter)
		}
		total = new(Counter)
		t.totals[name] = total
	}
	return total
}

// SetStatus sets the line that is shown for the task.
func (t *Task) SetStatus(format string, args ...any) {
	t.node.Attempt.SetStatus(fmt.Sprintf(format, args...))
}

// Alive reports that the task makes progress although the current record takes long. It
// restarts the time of mapreduce.task.timeout.
func (t *Task) Alive() { t.node.Attempt.KeepAlive() }

// Log writes to the task's log, whose last lines are shown if the task fails. On a cluster the
// log is a file of the attempt, which hammr job logs shows.
func (t *Task) Log() *slog.Logger { return t.node.Attempt.Logger() }

// Property returns a property of the job, as set with -D or its default; "" if it has
// neither.
func (t *Task) Property(name string) string { return t.node.Attempt.Conf.String(name) }

// Input returns the file of the current record and the offset of its first byte, or -1 if
// that is unknown.
func (t *Task) Input() (file string, offset int64) {
	if t.location == nil {
		return "", -1
	}
	return t.location()
}

// OpenSide opens a side file of the job, as named with -files: by the last element of its
// path, or by the name after "#".
func (t *Task) OpenSide(name string) (io.ReadCloser, error) {
	var known []string
	for _, f := range sideFiles(t.node.Attempt.Conf) {
		if f.name == name {
			return t.node.Attempt.Open(f.location)
		}
		known = append(known, f.name)
	}
	return nil, fmt.Errorf("side file %q: not one of the job's (%s); name it with -files", name, strings.Join(known, ", "))
}

// Open opens a file by name. The bytes that it reads count as the task's.
func (t *Task) Open(name string) (storage.File, error) { return t.node.Attempt.Open(name) }

// Create creates a file by name. It fails if the file exists. The file is not part of the
// job's output: it is not removed when the task runs again, and several attempts of a task
// may create it at the same time. Where that matters, write to the job's outputs.
func (t *Task) Create(name string) (storage.Writer, error) {
	fsys, path, err := t.node.Attempt.Resolve(t.Context(), name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(t.Context(), path, storage.CreateOptions{})
}

// Remove removes a file, or a directory with everything below it, by name. A missing file is
// not an error.
func (t *Task) Remove(name string) error {
	fsys, path, err := t.node.Attempt.Resolve(t.Context(), name)
	if err != nil {
		return err
	}
	return fsys.Remove(t.Context(), path, true)
}

// ConfigOf returns the configuration of the job, as set with WithConfig and by the driver.
// The attempts of a process share it, so do not change it. It panics if the job has no
// configuration of type T.
func ConfigOf[T any](t *Task) *T {
	c, ok := t.config.(*T)
	if !ok {
		panic(fmt.Sprintf("mr.ConfigOf[%T]: the job's configuration is a %T; declare it with WithConfig", *new(T), t.config))
	}
	return c
}

// WithConfig declares T as the type of the job's configuration, a struct that encoding/json
// can encode without a loss, and sets its defaults. JobRun.Config replaces them as a whole. If T or *T has a method Validate() error, it is called
// before the job is submitted.
func WithConfig[T, K, V, KO, VO any](j *Job[K, V, KO, VO], defaults T) *Job[K, V, KO, VO] {
	var err error
	if j.config, err = newConfigType(defaults); err != nil {
		j.addErr(err)
	}
	return j
}

// configType is the type of a job's configuration. The configuration travels as JSON: the
// driver encodes the one of the run, which replaces the defaults as a whole. A task of a run
// without one uses the defaults of its own binary.
type configType struct {
	// encode returns the JSON of a configuration, a value of the type or a pointer to one.
	encode func(config any) ([]byte, error)

	// decode reads JSON and validates the result, a pointer to the type. Empty data means the
	// defaults.
	decode func(data []byte) (any, error)
}

// newConfigType encodes the defaults once. Each decode makes a new copy of them, so that a
// change by one task does not affect other tasks.
func newConfigType[T any](defaults T) (*configType, error) {
	base, err := encodeConfig[T](defaults)
	decode := func(data []byte) (any, error) {
		if len(data) == 0 {
			data = base
		}
		c := new(T)
		if err := decodeStrict(data, c); err != nil {
			return nil, err
		}
		return c, validate(c)
	}
	return &configType{encodeConfig[T], decode}, err
}

// encodeConfig encodes a configuration. It refuses what JSON would change, as the codec of
// values does.
func encodeConfig[T any](config any) (data []byte, err error) {
	switch c := config.(type) {
	case T:
		data, err = keys.JSON[T]{}.Encode(c)
	case *T:
		if c == nil {
			return nil, errors.New("configuration: a nil pointer; leave it out for the defaults")
		}
		data, err = keys.JSON[T]{}.Encode(*c)
	default:
		return nil, fmt.Errorf("configuration: a %T for a job whose configuration is a %v", config, reflect.TypeFor[T]())
	}
	if err != nil {
		err = fmt.Errorf("configuration: %w", err)
	}
	return data, err
}

// decodeStrict refuses fields that the type does not have, since they would be lost silently.
// Empty data changes nothing.
func decodeStrict(data []byte, into any) error {
	if len(data) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// validate calls Validate if the configuration has such a method.
func validate(config any) error {
	v, ok := config.(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := v.Validate(); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// newTask makes the Task of a Node of a Job.
func newTask(n *task.NodeRun, config *configType, named outputNames) (*Task, error) {
	t := &Task{node: n}
	if config != nil {
		var err error
		if t.config, err = config.decode(n.Attempt.Start.Config); err != nil {
			return nil, &task.FatalError{Err: err}
		}
	}
	return t, t.openOutputs(named)
}

// openOutputs prepares the named outputs, before the user's code runs.
func (t *Task) openOutputs(named outputNames) error {
	t.named = make(map[string]closer)
	return named.openPending(t)
}
