package mr

import (
	"context"
	"errors"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/storage"
)

// Position and Range locate records in an input. See package dag.
type (
	Position = dag.Position
	Range    = dag.Range
)

// Input is a source of records. TextLines and the like read files; implement Input for any
// other source.
type Input[K, V any] interface {
	// Splits divides the input among the map tasks, in the order in which values of equal
	// keys are to arrive.
	Splits(ctx context.Context, env *InputEnv) ([]Split, error)

	// Open starts to read the Range of a split.
	Open(t *Task, s Split) (Reader[K, V], error)
}

// splitter is the part of an Input that does not depend on its types.
type splitter interface {
	Splits(ctx context.Context, env *InputEnv) ([]Split, error)
}

// InputEnv provides the data from which an Input computes its splits.
type InputEnv struct {
	Files *storage.Router
	Paths []string // as the user typed them; none for an input without files

	conf  *conf.Conf
	slots slotCount // zero: unknown
	sized bool      // the splits depend on the slots
}

// Property returns a property of the job, as Task.Property does.
func (env *InputEnv) Property(name string) string { return env.conf.String(name) }

// Reader yields the records of a range:
//
//	for r.Next() { k, v := r.Record() … }
//	err := r.Err()
//
// What Record returns is valid until the next call of Next.
type Reader[K, V any] interface {
	Next() bool
	Record() (K, V)
	// Position returns where the current record begins. Before the first Next it is the
	// start of the range.
	Position() Position
	Err() error
	Close() error
}

// fileInput is an Input over files. The formats differ in these functions; dividing files into
// splits and reading parts one after another is the same for all.
type fileInput[K, V any] struct {
	open       func(*conf.Conf) format.Opener       // returns the opener of ranges of files
	splittable func(c *conf.Conf, path string) bool // reports whether a file can be read from an offset within it
	record     func(format.Reader) (K, V)           // returns the current record, typed

	emptyRecords bool // an empty file is a record
}

// find lists the files that the paths match.
func (env *InputEnv) find(ctx context.Context) ([]splits.File, error) {
	found, err := storage.Inputs(ctx, env.Files, env.Paths, env.conf.Bool(conf.InputDirRecursive))
	if err != nil {
		return nil, err
	}
	all := make([]splits.File, len(found))
	for i, f := range found {
		all[i] = splits.File{FS: f.FS, Info: f.FileInfo}
	}
	return all, nil
}

// slotCount provides the number of map slots of the engine.
type slotCount struct {
	ask      func() (int, error) // nil if the number is unknown
	minShare int64               // bytes of the shortest split that is made because of slots
}

// slotsFor returns the number of map slots for which the files are divided; 0 is unknown. A
// cluster is not asked if the input is too short to be divided.
func (env *InputEnv) slotsFor(files []splits.File) (int, error) {
	if env.slots.ask == nil || splits.TotalSize(files) <= env.slots.minShare {
		return 0, nil
	}
	env.sized = true
	return env.slots.ask()
}

// maxLocated bounds the number of files whose blocks a client locates itself. For larger
// inputs the engine locates the blocks while the job runs.
const maxLocated = 256

// Splits implements Input. It divides the files that the paths match as Hadoop's
// FileInputFormat does, by the same properties, and into more splits if the blocks are too few
// for the slots.
func (f *fileInput[K, V]) Splits(ctx context.Context, env *InputEnv) ([]Split, error) {
	found, err := env.find(ctx)
	if err != nil {
		return nil, err
	}
	slots, err := env.slotsFor(found)
	if err != nil {
		return nil, err
	}
	cuts, err := splits.Cut(ctx, splits.Options{
		Slots:      slots,
		MinShare:   env.slots.minShare,
		MinSize:    env.conf.Bytes(conf.SplitMinSize),
		MaxSize:    env.conf.Bytes(conf.SplitMaxSize),
		Combine:    env.conf.Bool(conf.InputCombine),
		Splittable: func(path string) bool { return f.splittable(env.conf, path) },

		EmptyRecords: f.emptyRecords, MaxLocated: maxLocated,
	}, found)
	return splitsOf(cuts), err
}

// Open implements Input. Files are opened when their turn comes.
func (f *fileInput[K, V]) Open(t *Task, s Split) (Reader[K, V], error) {
	return &fileReader[K, V]{openParts(t, s, f.open(t.node.Attempt.Conf)), f.record}, nil
}

// openParts reads a range of a split of files. File names in the split are full names, which
// mean the same on every machine.
func openParts(t *Task, s Split, open format.Opener) *splits.Parts {
	resolve := func(name string) (storage.FS, string, error) {
		return t.node.Attempt.Resolve(t.Context(), name)
	}
	if t.poisoned() {
		open = lentRecords(open)
	}
	return splits.OpenParts(t.Context(), resolve, open, s.message(), s.Range, format.Open{
		MaxRecord: t.node.Attempt.Conf.Bytes(conf.LineMaxLength),
		Buffer:    int(t.node.Attempt.Conf.Bytes(conf.FileBufferSize)),
	})
}

// fileReader reads typed records from files.
type fileReader[K, V any] struct {
	*splits.Parts
	record func(format.Reader) (K, V)
}

// Err returns the first error. A file that has changed is not tried again.
func (r *fileReader[K, V]) Err() error {
	err := r.Parts.Err()
	if errors.Is(err, splits.ErrChanged) {
		return &task.FatalError{Err: err}
	}
	return err
}

func (r *fileReader[K, V]) Record() (K, V) { return r.record(r.Parts) }

// Location returns the file and offset of the current record.
func (r *fileReader[K, V]) Location() (file string, offset int64) { return r.Path(), r.Offset() }

// located is a reader that knows the file it reads. Task.Input reports it.
type located interface {
	Location() (file string, offset int64)
}

// locationOf returns the function that locates a reader's current record.
func locationOf(reader any) func() (string, int64) {
	if l, ok := reader.(located); ok {
		return l.Location
	}
	return func() (string, int64) { return "", -1 }
}

// consumedOf returns a function that returns how many bytes a reader has read, for progress
// and counters. It returns 0 for a custom reader that does not count bytes.
func consumedOf(reader any) func() int64 {
	if c, ok := reader.(interface{ Consumed() int64 }); ok {
		return c.Consumed
	}
	return func() int64 { return 0 }
}

// Split is the part of an input that one map task reads: parts of files in order, or
// whatever a custom input defines.
//
// Positions count through the parts as if they were one file that begins at the first part's
// Start. A custom input whose Positions are plain offsets needs one part, from its first
// offset to its last.
type Split struct {
	Parts  []Part   // at least one
	Hosts  []string // machines with most of the split's bytes, best first; may be empty
	Custom []byte   // further data for Open; may be nil

	unlocated bool // the hosts are unknown; the engine looks them up after it has accepted the job
	whole     bool // the split can only be read from its start

	// Range is the part that an attempt reads. Splits leaves it empty. The engine sets it
	// before Open, to the whole split or to the rest of it.
	Range Range
}

// Part is a part of a file.
type Part struct {
	Path     string // full name; "" for an input without files
	Start    int64  // bytes
	Length   int64  // bytes
	FileSize int64  // bytes

	submitted fileVersion // zero for a part that a custom input has made
}

// fileVersion says which file a part is of, so that a task does not read another one
// (taskproc.Split_Part).
type fileVersion struct {
	modified       int64
	inode, machine uint64
}

// Whole returns the range of all records of the split.
func (s Split) Whole() Range { return splits.Range(s.message()) }

// follows reports whether p begins where before ends, in the same file.
func (p Part) follows(before Part) bool {
	return p.Path == before.Path && p.Start > before.Start && p.Start == before.Start+before.Length
}

// message returns the split as the engine transports it; its files have no numbers yet.
func (s Split) message() *taskproc.Split {
	m := &taskproc.Split{Hosts: s.Hosts, Custom: s.Custom, Unlocated: s.unlocated, Unsplittable: s.whole}
	for _, p := range s.Parts {
		m.Parts = append(m.Parts, &taskproc.Split_Part{
			Path: splits.EncodePath(p.Path), Start: p.Start, Length: p.Length, FileSize: p.FileSize,
			Modified: p.submitted.modified, Inode: p.submitted.inode, Machine: p.submitted.machine,
		})
	}
	return m
}

// splitOf converts a message to a split.
func splitOf(m *taskproc.Split, work Range) Split {
	s := Split{Hosts: m.Hosts, Custom: m.Custom, Range: work, unlocated: m.Unlocated, whole: m.Unsplittable}
	for _, p := range m.Parts {
		s.Parts = append(s.Parts, Part{splits.DecodePath(p.Path), p.Start, p.Length, p.FileSize, fileVersion{p.Modified, p.Inode, p.Machine}})
	}
	return s
}

// splitsOf converts messages to splits whose ranges are not known yet.
func splitsOf(messages []*taskproc.Split) []Split {
	all := make([]Split, len(messages))
	for i, m := range messages {
		all[i] = splitOf(m, Range{})
	}
	return all
}

// numberer numbers the files of a job's input. Values of equal keys are ordered by these
// numbers. A part that does not follow the part before it begins a new file. So a file that
// two paths name has two numbers, and a file that several splits share has one number.
type numberer struct {
	files int32
	last  Part
}

// number returns the message of a split with the numbers of its files.
func (n *numberer) number(s Split) *taskproc.Split {
	m := s.message()
	for i, p := range s.Parts {
		if n.files == 0 || !p.follows(n.last) {
			n.files++
		}
		n.last = p
		m.Parts[i].Ordinal = n.files - 1
	}
	return m
}
