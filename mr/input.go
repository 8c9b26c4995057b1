package mr

import (
	"context"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/format"
	"github.com/hammr/hammr/internal/format/splits"
	"github.com/hammr/hammr/storage"
)

// Position and Range say where records lie in an input; see package dag.
type (
	Position = dag.Position
	Range    = dag.Range
)

// Input is where records come from. TextLines and its like read files; bring
// your own for anything else.
type Input[K, V any] interface {
	// Splits cuts the input into the shares of the map tasks, in the order in
	// which values of equal keys are to arrive.
	Splits(ctx context.Context, env *InputEnv) ([]Split, error)

	// Open starts reading the Range of a share.
	Open(t *Task, s Split) (Reader[K, V], error)
}

// splitter is the half of an Input that does not depend on its types.
type splitter interface {
	Splits(ctx context.Context, env *InputEnv) ([]Split, error)
}

// InputEnv is what an Input may look at to cut itself.
type InputEnv struct {
	Files *storage.Router
	Paths []string // as the user named them; none for an input without files

	conf *conf.Conf
}

// Property is a property of the job, as Task.Property.
func (env *InputEnv) Property(name string) string { return env.conf.String(name) }

// Reader yields the records of a range:
//
//	for r.Next() { k, v := r.Record() … }
//	err := r.Err()
//
// What Record returns holds until the following Next.
type Reader[K, V any] interface {
	Next() bool
	Record() (K, V)
	// Position is where the current record begins; before the first Next, the
	// start of the range.
	Position() Position
	Err() error
	Close() error
}

// fileInput is an Input over files.
type fileInput[K, V any] struct {
	open       func(*conf.Conf) format.Opener
	splittable func(c *conf.Conf, path string) bool
	record     func(format.Reader) (K, V)

	emptyRecords bool // an empty file holds a record
}

func (f *fileInput[K, V]) Splits(ctx context.Context, env *InputEnv) ([]Split, error) {
	return cutFiles(ctx, env, f.emptyRecords, func(path string) bool { return f.splittable(env.conf, path) })
}

// find lists the files that the paths name.
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

// maxLocated is of how many files a client asks where their blocks are. More are
// left to the engine, which asks beside the running job.
const maxLocated = 256

// cutFiles cuts the files that the paths name by the properties.
func cutFiles(ctx context.Context, env *InputEnv, emptyRecords bool, splittable func(path string) bool) ([]Split, error) {
	found, err := env.find(ctx)
	if err != nil {
		return nil, err
	}
	cuts, err := splits.Cut(ctx, splits.Options{
		MinSize:    env.conf.Bytes(conf.SplitMinSize),
		MaxSize:    env.conf.Bytes(conf.SplitMaxSize),
		Combine:    env.conf.Bool(conf.InputCombine),
		Splittable: splittable,

		EmptyRecords: emptyRecords, MaxLocated: maxLocated,
	}, found)
	return splitsOf(cuts), err
}

func (f *fileInput[K, V]) Open(t *Task, s Split) (Reader[K, V], error) {
	return &fileReader[K, V]{openParts(t, s, f.open(t.node.Conf)), f.record}, nil
}

// openParts reads a range of a split of files.
func openParts(t *Task, s Split, open format.Opener) *splits.Parts {
	resolve := func(name string) (storage.FS, string, error) {
		return t.node.Resolve(t.Context(), name)
	}
	return splits.OpenParts(t.Context(), resolve, open, s.message(), s.Range, format.Open{
		MaxRecord: t.node.Conf.Bytes(conf.LineMaxLength),
		Buffer:    int(t.node.Conf.Bytes(conf.FileBufferSize)),
	})
}

// fileReader reads files with typed records.
type fileReader[K, V any] struct {
	*splits.Parts
	record func(format.Reader) (K, V)
}

func (r *fileReader[K, V]) Record() (K, V) { return r.record(r.Parts) }

// Location is where the current record lies.
func (r *fileReader[K, V]) Location() (file string, offset int64) { return r.Path(), r.Offset() }

// located is a reader that knows the file it reads.
type located interface {
	Location() (file string, offset int64)
}

// locationOf is how to learn where a reader stands.
func locationOf(reader any) func() (string, int64) {
	if l, ok := reader.(located); ok {
		return l.Location
	}
	return func() (string, int64) { return "", -1 }
}

// consumedOf is how to learn how far a reader has come, in bytes.
func consumedOf(reader any) func() int64 {
	if c, ok := reader.(interface{ Consumed() int64 }); ok {
		return c.Consumed
	}
	return func() int64 { return 0 }
}
