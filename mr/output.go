package mr

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/task"
)

// Output is a format of output files. The engine names the files, and moves them to the output
// directory when the job succeeds, by the protocol of Hadoop's FileOutputCommitter: no reader
// sees the file of an attempt that failed, or of the second of two attempts.
type Output[K, V any] interface {
	// Suffix returns the end of the files' names, with its dot (".gz"), or "".
	Suffix(t *Task) (string, error)

	// Create starts a file whose bytes go to w.
	Create(t *Task, w io.Writer) (RecordWriter[K, V], error)
}

// RecordWriter writes the records of one file. Write copies the parts of its arguments that
// it keeps. Close flushes; it does not close the file.
type RecordWriter[K, V any] interface {
	Write(key K, value V) error
	Close() error
}

// closer is an open output of any types.
type closer interface{ error() error }

// writer is an Emitter that writes to an output file. After the first error it drops records;
// the record loop looks at the error after each call of the user's function.
type writer[K, V any] struct {
	format RecordWriter[K, V]
	count  int64
	err    error // the first error; it remains
}

// Emit implements Emitter. It counts the records for the counters of the task.
func (w *writer[K, V]) Emit(key K, value V) {
	if w.err == nil {
		w.err = w.format.Write(key, value)
		w.count++
	}
}

func (w *writer[K, V]) error() error { return w.err }

// end implements targetWriter. The attempt closes the file.
func (w *writer[K, V]) end(bool) error { return w.err }

// openOutput opens the file of the output named name. At the end of an attempt the format
// first writes its buffered records, and then the attempt closes the file. If the attempt
// resumes from a checkpoint, its framed file begins with the bytes that the previous attempt
// has handed over.
func openOutput[K, V any](t *Task, format Output[K, V], name string) (*writer[K, V], error) {
	if f, ok := format.(funcOutput[K, V]); ok {
		records, err := f.Create(t, nil)
		return &writer[K, V]{format: lendWrites(t, records)}, err
	}
	suffix, err := format.Suffix(t)
	if err != nil {
		return nil, err
	}
	file, err := t.node.Output(name, suffix)
	if err != nil {
		return nil, err
	}
	w := new(writer[K, V])
	if w.format, err = format.Create(t, file); err != nil {
		return nil, err
	}
	file.OnClose(func() error {
		file.Records = w.count
		return errors.Join(w.err, w.format.Close())
	})
	r, ok := w.format.(resumable)
	w.format = lendWrites(t, w.format)
	if ok && r.Framed() {
		file.OnCheckpoint(func() ([]byte, error) {
			file.Records = w.count
			return r.Checkpoint()
		})
		lent := t.lender()
		defer lent.End()
		return w, r.Resume(lent.Lend(file.Pending()))
	}
	return w, nil
}

// NamedOutput is a further output of a job: files called name-r-00000 or name-m-00000.
type NamedOutput[K, V any] struct {
	*ownedOutput
	name   string
	format Output[K, V]
}

// AddOutput adds an output to a Job or a Graph. Map and reduce functions write to it through
// the NamedOutput that it returns. In a graph, With gives it to the stages whose functions write
// to it. The name has letters and digits only.
func AddOutput[KN, VN any](to outputOwner, name string, format Output[KN, VN]) *NamedOutput[KN, VN] {
	o := &NamedOutput[KN, VN]{name: name, format: format}
	o.ownedOutput = &ownedOutput{untyped: format, open: func(t *Task) error {
		_, err := o.writer(t)
		return err
	}}
	to.addOutput(name, o.ownedOutput)
	return o
}

// outputOwner has named outputs: a Job or a Graph.
type outputOwner interface {
	addOutput(name string, o *ownedOutput)
}

// addOutput implements outputOwner.
func (j *Job[K, V, KO, VO]) addOutput(name string, o *ownedOutput) {
	if err := j.named.add(name, o); err != nil {
		j.addErr(err)
	}
}

// outputNames are the outputs of a job by name.
type outputNames map[string]*ownedOutput

// ownedOutput has the owner and the writers of an output, so that no two stages write the same files.
type ownedOutput struct {
	untyped any               // its format
	open    func(*Task) error // opens it for a task; nil if it is open from the start
	graph   *Graph            // nil in a Job, whose map and reduce write different files
	writers []*stage          // of the graph; at most one source and one other stage, which write name-m- and name-r-
}

// add declares an output. It refuses the names that MultipleOutputs refuses.
func (n outputNames) add(name string, o *ownedOutput) error {
	if !plainName(name) || name == task.MainOutput {
		return fmt.Errorf("output name %q: use letters and digits, and not %q", name, task.MainOutput)
	}
	return n.claim(name, o)
}

// formats returns the formats of the outputs.
func (n outputNames) formats() (all []any) {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		all = append(all, n[name].untyped)
	}
	return all
}

// claim refuses a name that another output has.
func (n outputNames) claim(name string, o *ownedOutput) error {
	other := n[name]
	switch {
	case other == nil:
		n[name] = o
		return nil
	case name == task.MainOutput:
		return fmt.Errorf("the job's output is written already, by %v; use WriteAs to give this one a name", other)
	}
	return fmt.Errorf("output name %q: declared twice, first for %v; choose another name", name, other)
}

// String names the writer of the output.
func (o *ownedOutput) String() string {
	if len(o.writers) == 0 {
		return "AddOutput"
	}
	return fmt.Sprintf("stage %q", o.writers[0].name)
}

// giveTo lets the functions of a stage write to the output. The files of a second stage of its
// kind would have the same names, and would be joined with those of the first.
func (o *NamedOutput[K, V]) giveTo(to *stage) {
	if o.graph != to.graph {
		to.errorfAt(callerPosition(), "output %q, which belongs to another job", o.name)
		return
	}
	for _, other := range o.writers {
		if other.source == to.source {
			to.errorfAt(callerPosition(), "output %q is written by stage %q, into files of the same names; add an output of another name for this stage", o.name, other.name)
			return
		}
	}
	o.writers = append(o.writers, to)
}

// checkGiven returns an error unless With has given the output to the stage of the task.
func (o *ownedOutput) checkGiven(t *Task) error {
	if o.graph == nil || slices.Contains(o.writers, t.stage) {
		return nil
	}
	return errors.New("not given to the stage that writes to it; mr.With(stage, output) does that")
}

// openPending opens the outputs that have pending bytes: the attempt before a checkpoint has
// handed them over, and no piece contains them yet. They must be written even if no record
// follows.
func (n outputNames) openPending(t *Task) error {
	for _, name := range t.node.PendingOutputs() {
		if o := n[name]; o != nil && o.open != nil {
			if err := o.open(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainName reports whether a name can be part of a file's name: Hadoop's MultipleOutputs
// allows the same characters.
func plainName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	}) < 0
}

// Emit writes one record, and creates the file at the first record. A combiner cannot call
// it.
func (o *NamedOutput[K, V]) Emit(t *Task, key K, value V) error {
	if t.named == nil {
		return fmt.Errorf("output %q: not to be written by a combiner", o.name)
	}
	w, err := o.writer(t)
	if err != nil {
		return err
	}
	w.Emit(key, value)
	return w.err
}

// writer returns the task's own writer, opened at the first call, so that a task which writes
// no record to the output makes no file.
func (o *NamedOutput[K, V]) writer(t *Task) (*writer[K, V], error) {
	if w, ok := t.named[o.name].(*writer[K, V]); ok {
		return w, nil
	}
	if err := o.checkGiven(t); err != nil {
		return nil, fmt.Errorf("output %q: %w", o.name, err)
	}
	w, err := openOutput(t, o.format, o.name)
	if err == nil {
		t.named[o.name] = w
	}
	return w, err
}

// FuncOutput returns an output without files: it calls write for each record, in the order
// of the task's output. Tasks run concurrently, so write must be safe for that. Attempts
// that fail later call it too.
func FuncOutput[K, V any](write func(t *Task, key K, value V) error) Output[K, V] {
	return funcOutput[K, V](write)
}

// NullOutput returns the output of a job that writes no files.
func NullOutput[K, V any]() Output[K, V] {
	return FuncOutput(func(*Task, K, V) error { return nil })
}

// funcOutput is an output without files. openOutput recognizes it and opens no file.
type funcOutput[K, V any] func(t *Task, key K, value V) error

// withoutFiles marks an output that needs no directory.
func (funcOutput[K, V]) withoutFiles() {}

func (funcOutput[K, V]) Suffix(*Task) (string, error) { return "", nil }

func (f funcOutput[K, V]) Create(t *Task, _ io.Writer) (RecordWriter[K, V], error) {
	return &funcWriter[K, V]{f, t}, nil
}

// funcWriter passes each record to a function, with the task that wrote it.
type funcWriter[K, V any] struct {
	write func(t *Task, key K, value V) error
	task  *Task
}

func (w *funcWriter[K, V]) Write(key K, value V) error { return w.write(w.task, key, value) }
func (w *funcWriter[K, V]) Close() error               { return nil }
