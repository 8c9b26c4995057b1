package mr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Job is one MapReduce job: what reads, maps, reduces and writes. K and V are
// what the mapper emits and the reducer gets; KO and VO what the job writes.
// A Job is built once, by New or MapOnly and the methods that follow, and not
// changed after that; running it does not change it.
type Job[K, V, KO, VO any] struct {
	name       string
	declaredAt string // file:line of the call that made it
	sources    []source[K, V, KO, VO]
	reducer    Reducer[K, V, KO, VO] // nil in a map-only job
	output     Output[KO, VO]
	route      route[K, V] // from the mappers to the reducer
	properties map[string]string
	config     *configType
	named      outputNames
	errs       []error
}

// source is one input of a job with its mapper; the types of its records are
// hidden in the functions.
type source[K, V, KO, VO any] struct {
	input      splitter
	mapAll     func(j *Job[K, V, KO, VO], m *task.Map) error
	sample     func(ctx context.Context, j *Job[K, V, KO, VO], s *sampler) error
	disallowed preempt.ModeSet // that the mapper cannot bear
}

// New makes a job with a reduce phase. A mapper whose output does not fit the
// reducer does not compile.
func New[KI, VI, K, V, KO, VO any](name string, in Input[KI, VI], m Mapper[KI, VI, K, V], r Reducer[K, V, KO, VO], out Output[KO, VO]) *Job[K, V, KO, VO] {
	j := &Job[K, V, KO, VO]{name: name, reducer: r, output: out}
	j.init(r == nil)
	return AddInput(j, in, m)
}

// MapOnly makes a job without reduce phase: what the mapper emits is written
// as it comes.
func MapOnly[KI, VI, KO, VO any](name string, in Input[KI, VI], m Mapper[KI, VI, KO, VO], out Output[KO, VO]) *Job[KO, VO, KO, VO] {
	j := &Job[KO, VO, KO, VO]{name: name, output: out}
	j.init(false)
	j.sources = append(j.sources, mapOnlySource(in, m))
	j.checkSource(in == nil, m == nil)
	return j
}

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
	if j.output == nil {
		j.addErr(errors.New("no output: use NullOutput for a job that writes nothing"))
	}
}

// AddInput adds an input with a mapper of its own. Inputs on the command line
// go to the sources in turn, the last of which takes what is left.
func AddInput[KI, VI, K, V, KO, VO any](j *Job[K, V, KO, VO], in Input[KI, VI], m Mapper[KI, VI, K, V]) *Job[K, V, KO, VO] {
	j.sources = append(j.sources, shuffledSource[KI, VI, K, V, KO, VO](in, m))
	j.checkSource(in == nil, m == nil)
	return j
}

func (j *Job[K, V, KO, VO]) checkSource(noInput, noMapper bool) {
	if noInput {
		j.addErr(errors.New("an input that is nil"))
	}
	if noMapper {
		j.addErr(errors.New("a mapper that is nil"))
	}
}

// Combine sets the combiner, which joins values of a key before they leave the
// map. It must be associative, it emits the key that it was given, and its
// output is the reducer's input. A Fold (Sum, Min, …) works record by record in
// a hash table; any other reducer works group by group when the sort buffer is
// written out, maybe beside the mapper. Its Setup is called, Close is not.
func (j *Job[K, V, KO, VO]) Combine(c Reducer[K, V, K, V]) *Job[K, V, KO, VO] {
	if j.reducer == nil {
		j.addErr(errors.New("a combiner in a job without reduce phase"))
	}
	j.route.combiner = c
	return j
}

// Partition sets which of the reduces, 0 to partitions-1, gets a key. The
// default spreads keys by a hash of their encoding (of their first component
// under GroupFirst).
func (j *Job[K, V, KO, VO]) Partition(f func(key K, partitions int) int) *Job[K, V, KO, VO] {
	j.route.partition = f
	return j
}

// KeyCodec sets how keys are encoded. The order of the bytes is the order in
// which the reducer gets its keys.
func (j *Job[K, V, KO, VO]) KeyCodec(c Codec[K]) *Job[K, V, KO, VO] {
	j.route.keys, j.route.keyErr = c, nil
	return j
}

// ValueCodec sets how values are encoded between map and reduce.
func (j *Job[K, V, KO, VO]) ValueCodec(c Codec[V]) *Job[K, V, KO, VO] {
	j.route.values = c
	return j
}

// GroupFirst calls the reducer once for all keys that share their first
// component, with values ordered by the whole key: the secondary sort. The key
// type is a Pair or Triple; the reducer is given the group's first key.
func (j *Job[K, V, KO, VO]) GroupFirst() *Job[K, V, KO, VO] {
	j.route.groupFirst = true
	return j
}

// TotalOrder partitions keys by ranges that it finds by sampling the input, so
// that the output files, one behind the other, are sorted. With one reduce
// there is nothing to sample.
func (j *Job[K, V, KO, VO]) TotalOrder() *Job[K, V, KO, VO] {
	j.route.totalOrder = new(sampling)
	return j
}

// Set gives a property a default for this job; the command line overrides it.
func (j *Job[K, V, KO, VO]) Set(property, value string) *Job[K, V, KO, VO] {
	j.properties[property] = value
	return j
}

// Reduces sets the number of reduce tasks, unless the command line does. With
// none the reducer is left out, and what the mappers emit is written as it
// comes: the output has to take it.
func (j *Job[K, V, KO, VO]) Reduces(n int) *Job[K, V, KO, VO] {
	return j.Set(conf.JobReduces, fmt.Sprint(n))
}

// WithOutput is a copy of the job that writes to out.
func (j *Job[K, V, KO, VO]) WithOutput(out Output[KO, VO]) *Job[K, V, KO, VO] {
	c := *j
	c.output = out
	c.sources = slices.Clone(j.sources)
	c.properties = maps.Clone(j.properties)
	return &c
}

// Name is the job's name.
func (j *Job[K, V, KO, VO]) Name() string { return j.name }

func (j *Job[K, V, KO, VO]) addErr(err error) { j.errs = append(j.errs, err) }

// check reports what is wrong with how the job was built, at the place where
// that was done.
func (j *Job[K, V, KO, VO]) check() error {
	faults := j.errs
	if j.reducer != nil && j.route.keyErr != nil {
		faults = append(faults, j.route.keyErr)
	}
	if j.route.groupFirst {
		if _, ok := j.route.keys.(keys.Grouper); !ok {
			faults = append(faults, errors.New("GroupFirst with a key that has no components: use mr.Pair or mr.Triple"))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s: job %s: %w", j.declaredAt, j.name, errors.Join(faults...))
}

// Runnable is a job of any types, or a Program.
type Runnable interface {
	program() *Program
}

// anyJob is what the driver and the engine need of a job of any types.
type anyJob interface {
	Runnable
	task.Program
	Name() string
	check() error
	configType() *configType
	details(config []byte) (details, error)
	sampleKeys(ctx context.Context, s *sampler) error
}

// details is what of a job does not depend on its types, for one configuration.
type details struct {
	inputs     []splitter
	readers    []string // by input: name of the stage that reads it
	hasReduce  bool
	needReduce error // why it cannot run without reduces; nil when it can
	totalOrder *sampling
	properties map[string]string
	disallowed map[string]preempt.ModeSet // by stage: that its functions cannot bear

	// graph is what the job is when the stages that read inputs have so many
	// Nodes.
	graph func(nodes map[string]int, reduces int) dag.Graph
}

func (j *Job[K, V, KO, VO]) configType() *configType { return j.config }

func (j *Job[K, V, KO, VO]) details([]byte) (details, error) {
	const reader = "map" // as dag.MapReduce calls it
	d := details{
		hasReduce:  j.reducer != nil,
		needReduce: j.needReduce(),
		totalOrder: j.route.totalOrder,
		properties: maps.Clone(j.properties),
		graph:      func(nodes map[string]int, reduces int) dag.Graph { return dag.MapReduce(nodes[reader], reduces) },
	}
	for _, s := range j.sources {
		d.inputs = append(d.inputs, s.input)
		d.readers = append(d.readers, reader)
		d.disallow(reader, s.disallowed)
	}
	if j.reducer != nil {
		d.disallow("reduce", disallowedModes[KO, VO](j.reducer))
	}
	return d, nil
}

// needReduce is why the mappers' output cannot be written as it comes, which
// reduces = 0 asks for.
func (j *Job[K, V, KO, VO]) needReduce() error {
	if _, ok := any(j.output).(Output[K, V]); ok {
		return nil
	}
	return fmt.Errorf("%s=0: job %s needs its reducer, since it maps to (%v, %v) and writes (%v, %v); make it with mr.MapOnly to leave it out",
		conf.JobReduces, j.name, reflect.TypeFor[K](), reflect.TypeFor[V](), reflect.TypeFor[KO](), reflect.TypeFor[VO]())
}

func (j *Job[K, V, KO, VO]) program() *Program {
	return &Program{Name: j.name, Jobs: []Runnable{j}}
}
