package mr

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// Runnable is a Job or Definition of any types, or a Program.
type Runnable interface {
	program() *Program
}

// anyJob is a job of any types, as the driver and the engine use it.
// The methods are called on the client and, in each process that runs a task, when that task
// starts.
type anyJob interface {
	Runnable
	task.Program
	Name() string
	check() error
	configType() *configType
	details(config []byte) (details, error)
	sampleKeys(ctx context.Context, s *sampler) error
}

// details is the part of a job that does not depend on its types, under one configuration.
type details struct {
	inputs     []splitter
	outputs    []any    // the formats of all outputs
	readers    []string // the stage that reads each input
	hasReduce  bool
	needReduce error // why the job cannot run without reduces; nil if it can
	totalOrder bool  // partitions are ranges of keys, found by sampling
	properties map[string]string
	disallowed map[string]preempt.ModeSet // modes that the functions of each stage do not support
	counts     map[string]nodeCount       // what decides the number of Nodes of each stage

	// graph returns the job's graph for these numbers of Nodes of the stages that read
	// inputs.
	graph func(nodes map[string]int, reduces int) dag.Graph
}

// configType implements anyJob.
func (j *Job[K, V, KO, VO]) configType() *configType { return j.config }

// details implements anyJob. The details do not depend on the configuration: the graph of a
// Job is always map → reduce, or map alone.
func (j *Job[K, V, KO, VO]) details([]byte) (details, error) {
	const reader = "map" // the name that dag.MapReduce gives the stage
	d := details{
		outputs:    append(j.named.formats(), j.output),
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
	d.counts = map[string]nodeCount{reader: {kind: asSplits}}
	if j.reducer != nil {
		d.disallow("reduce", disallowedModes[KO, VO](j.reducer))
		d.counts["reduce"] = nodeCount{kind: asReduces}
	}
	return d, nil
}

// needReduce returns the reason why the mappers' output cannot be written directly; nil if
// it can.
func (j *Job[K, V, KO, VO]) needReduce() error {
	if _, ok := any(j.output).(Output[K, V]); ok {
		return nil
	}
	return fmt.Errorf("%s=0: job %s needs its reducer, since it maps to (%v, %v) and writes (%v, %v); make it with mr.MapOnly to leave it out",
		conf.JobReduces, j.name, reflect.TypeFor[K](), reflect.TypeFor[V](), reflect.TypeFor[KO](), reflect.TypeFor[VO]())
}

// program implements Runnable. It returns a program that has only this job, with the job's
// name.
func (j *Job[K, V, KO, VO]) program() *Program {
	return &Program{Name: j.name, Jobs: []Runnable{j}}
}

// reduces returns the number of reduce tasks under a configuration; 0 for a job without
// reduce phase, whatever the property says.
func reduces(det details, c *conf.Conf) int {
	if !det.hasReduce {
		return 0
	}
	return c.Int(conf.JobReduces)
}

// nodes returns the number of Nodes of each stage that reads inputs: one per split.
func (det details) nodes(splits []*taskproc.Split) map[string]int {
	nodes := make(map[string]int)
	for _, s := range splits {
		nodes[det.readers[s.Input]]++
	}
	return nodes
}

// disallow adds preemption modes that the tasks of a stage do not support.
func (det *details) disallow(stage string, modes preempt.ModeSet) {
	if modes == 0 {
		return
	}
	if det.disallowed == nil {
		det.disallowed = make(map[string]preempt.ModeSet)
	}
	det.disallowed[stage] |= modes
}

// disallowedIn returns the modes that the tasks of a graph do not support, by stage, in the
// form that a submission has.
func (det details) disallowedIn(g dag.Graph) map[string]string {
	all := make(map[string]string)
	for stage, modes := range det.disallowed {
		if g.StageIndex(stage) >= 0 { // the graph of a job with 0 reduces has no reduce stage
			all[stage] = strings.ReplaceAll(modes.String(), " ", "")
		}
	}
	return all
}

// defaults returns the configuration of a job with this number of reduces. A number below 0
// leaves the number that the job sets.
func (det details) defaults(reduces int) (*conf.Conf, error) {
	c, err := conf.FromMap(det.properties)
	if err == nil && reduces >= 0 {
		_, err = c.Set(conf.JobReduces, strconv.Itoa(reduces))
	}
	return c, err
}

// shape returns the graph of the job under a configuration.
func (det details) shape(c *conf.Conf, nodes map[string]int, reduces int) dag.Graph {
	g := det.graph(nodes, reduces)
	if c.Bool(conf.ChannelsStored) {
		return g.Store()
	}
	return g
}
