package mr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Job is one MapReduce job: input, mapper, reducer and output. The mapper emits K and V, and
// the reducer gets them; the job writes KO and VO. A Job is built by New or MapOnly and the
// methods below, and does not change after that.
//
// Errors in the calls are collected, so that a Job can be built in a package variable. They are
// reported together when the program starts, with the position of the call that made the job.
type Job[K, V, KO, VO any] struct {
	name       string
	declaredAt position // file:line of the call that made it
	sources    []source[K, V, KO, VO]
	reducer    Reducer[K, V, KO, VO] // nil if the job has no reduce phase
	output     Output[KO, VO]
	route      route[K, V] // from the mappers to the reducer
	properties map[string]string
	config     *configType
	named      outputNames
	errs       []error
}

// source is one input of a job with its mapper. The functions hide the types of its records.
type source[K, V, KO, VO any] struct {
	input      splitter
	mapAll     func(j *Job[K, V, KO, VO], m *task.Map) error
	sample     func(ctx context.Context, j *Job[K, V, KO, VO], s *sampler) error
	disallowed preempt.ModeSet // modes that the mapper does not support
}

// New makes a job with a reduce phase. It does not compile if the mapper's output does not
// fit the reducer.
func New[KI, VI, K, V, KO, VO any](name string, in Input[KI, VI], m Mapper[KI, VI, K, V], r Reducer[K, V, KO, VO], out Output[KO, VO]) *Job[K, V, KO, VO] {
	j := &Job[K, V, KO, VO]{name: name, reducer: r, output: out}
	j.init(r == nil)
	return AddInput(j, in, m)
}

// MapOnly makes a job without a reduce phase: the records that the mapper emits are the
// output.
func MapOnly[KI, VI, KO, VO any](name string, in Input[KI, VI], m Mapper[KI, VI, KO, VO], out Output[KO, VO]) *Job[KO, VO, KO, VO] {
	j := &Job[KO, VO, KO, VO]{name: name, output: out}
	j.init(false)
	return AddInput(j, in, m)
}

// init sets the fields that New and MapOnly have in common. callerPosition looks for the
// first caller outside this package, so the depth of init in the stack does not matter.
func (j *Job[K, V, KO, VO]) init(noReducer bool) {
	j.declaredAt = callerPosition()
	j.properties = make(map[string]string)
	j.named = make(outputNames)
	j.route = newRoute[K, V]()
	if j.name == "" {
		j.addErr(errors.New("a job without a name"))
	}
	if noReducer {
		j.addErr(errors.New("no reducer: use MapOnly for a job without reduce phase"))
	}
	j.checkOutput()
}

func (j *Job[K, V, KO, VO]) checkOutput() {
	if j.output == nil {
		j.addErr(errors.New("no output: use NullOutput for a job that writes nothing"))
	}
	if err := declarationErrorOf(j.output); err != nil {
		j.addErr(fmt.Errorf("output: %w", err))
	}
}

// needsReduce refuses an option that has no effect in a job without reduce phase.
func (j *Job[K, V, KO, VO]) needsReduce(option string) {
	if j.reducer == nil {
		j.addErr(fmt.Errorf("%s in a job without reduce phase", option))
	}
}

// AddInput adds an input with a mapper of its own. Inputs on the command line are assigned
// to the sources in order; the last takes the rest.
func AddInput[KI, VI, K, V, KO, VO any](j *Job[K, V, KO, VO], in Input[KI, VI], m Mapper[KI, VI, K, V]) *Job[K, V, KO, VO] {
	j.sources = append(j.sources, sourceOf[KI, VI, K, V, KO, VO](in, m))
	if in == nil {
		j.addErr(errors.New("an input that is nil"))
	}
	if m == nil {
		j.addErr(errors.New("a mapper that is nil"))
	}
	if err := declarationErrorOf(in); err != nil {
		j.addErr(fmt.Errorf("input: %w", err))
	}
	return j
}

// Combine sets the combiner, which joins values of a key before they leave the map. It must
// be associative, and may emit only the key that it gets. A Fold (Sum, Min, …) combines each
// record in a hash table. Any other reducer combines group by group when the sort buffer
// spills, possibly in another goroutine than the mapper's. Its Setup is called, its Close is
// not.
func (j *Job[K, V, KO, VO]) Combine(c Reducer[K, V, K, V]) *Job[K, V, KO, VO] {
	j.needsReduce("a combiner")
	j.route.combiner = c
	return j
}

// Partition sets which reduce, 0 to partitions-1, gets a key. The default hashes the encoded
// key, or its first component under GroupFirst.
func (j *Job[K, V, KO, VO]) Partition(f func(key K, partitions int) int) *Job[K, V, KO, VO] {
	j.needsReduce("a partition function")
	j.route.partition = f
	return j
}

// KeyCodec sets how keys are encoded. The reducer gets its keys in the order of their bytes.
func (j *Job[K, V, KO, VO]) KeyCodec(c Codec[K]) *Job[K, V, KO, VO] {
	j.needsReduce("a codec of keys between map and reduce")
	j.route.keys, j.route.keyErr = c, nil
	return j
}

// ValueCodec sets how values are encoded between map and reduce.
func (j *Job[K, V, KO, VO]) ValueCodec(c Codec[V]) *Job[K, V, KO, VO] {
	j.needsReduce("a codec of values between map and reduce")
	j.route.values = c
	return j
}

// GroupFirst calls the reducer once for all keys with the same first component, with the
// values ordered by the whole key: a secondary sort. The key type must be a Pair or Triple.
// The reducer gets the group's first key.
func (j *Job[K, V, KO, VO]) GroupFirst() *Job[K, V, KO, VO] {
	j.needsReduce("GroupFirst")
	j.route.groupFirst = true
	return j
}

// TotalOrder partitions keys by ranges, so that the output files, concatenated, are sorted.
// It finds the ranges by sampling the input. With one reduce it samples nothing.
func (j *Job[K, V, KO, VO]) TotalOrder() *Job[K, V, KO, VO] {
	j.needsReduce("TotalOrder")
	j.route.totalOrder = true
	return j
}

// Set sets a default of a property for this job; the command line overrides it.
func (j *Job[K, V, KO, VO]) Set(property, value string) *Job[K, V, KO, VO] {
	j.properties[property] = value
	return j
}

// Reduces sets the number of reduce tasks, unless the command line sets it. With 0 there is
// no reducer: the records that the mappers emit are the output, so the output must accept
// them.
func (j *Job[K, V, KO, VO]) Reduces(n int) *Job[K, V, KO, VO] {
	return j.Set(conf.JobReduces, fmt.Sprint(n))
}

// WithOutput returns a copy of the job that writes to out.
func (j *Job[K, V, KO, VO]) WithOutput(out Output[KO, VO]) *Job[K, V, KO, VO] {
	c := *j
	c.output = out
	c.sources = slices.Clone(j.sources)
	c.properties, c.named, c.errs = maps.Clone(j.properties), maps.Clone(j.named), slices.Clone(j.errs)
	c.checkOutput()
	return &c
}

// Name returns the job's name.
func (j *Job[K, V, KO, VO]) Name() string { return j.name }

// addErr adds an error that check reports.
func (j *Job[K, V, KO, VO]) addErr(err error) { j.errs = append(j.errs, err) }

// check returns all errors that were made in building the job, with the position of the call
// that built it.
func (j *Job[K, V, KO, VO]) check() error {
	errs := j.errs
	if j.reducer != nil {
		if err := checkRoute(&j.route); err != nil {
			errs = append(errs, fmt.Errorf("stage \"map\": %w", err))
		}
	}
	if j.route.totalOrder && j.route.partition != nil {
		errs = append(errs, errors.New("TotalOrder with a partition function, which decides instead of it; leave one out"))
	}
	if j.route.groupFirst {
		if _, ok := j.route.keys.(keys.Grouper); !ok {
			errs = append(errs, errors.New("GroupFirst with a key that has no components: use mr.Pair or mr.Triple"))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s: job %s: %w", j.declaredAt, j.name, errors.Join(errs...))
}

// packagePrefix begins the names of this package's functions.
var packagePrefix = reflect.TypeFor[Task]().PkgPath() + "."

// maxDepth bounds the calls of this package between the user's code and callerPosition.
const maxDepth = 8

// position is a place outside this package from which code called into it. What it is called is looked up
// only when it is printed, since jobs are built before main in each start of a program.
type position [maxDepth]uintptr

// callerPosition returns the position of the code that called into this package. Errors in building a job
// name this place, because the compiler cannot find such errors.
func callerPosition() (p position) {
	runtime.Callers(2, p[:])
	return p
}

// String returns file:line.
func (p position) String() string {
	calls := slices.Index(p[:], 0)
	if calls < 0 {
		calls = len(p)
	}
	frames := runtime.CallersFrames(p[:calls])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, packagePrefix) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}
