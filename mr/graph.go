package mr

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/task"
)

// Definition is a job in the shape of a graph of stages. It runs as a Job does.
//
// The client builds the graph to check and submit it. Each process that runs a Node builds
// it again, to find the functions. Only the graph's shape and the configuration are sent.
type Definition struct {
	name       string
	declaredAt position // file:line
	config     *configType
	build      func(g *Graph, config any)
	err        error // error of Define itself
}

// Define makes a job of a function that builds its graph. The function runs on the client,
// and again in each task, with the configuration of the run: the defaults, or JobRun.Config.
// It must build the same graph each time it gets the same configuration, so it reads no
// clock and no files. C is a struct that encoding/json can encode, or struct{} for a job
// without configuration. Tasks read it with ConfigOf.
func Define[C any](name string, defaults C, build func(g *Graph, config C)) *Definition {
	d := &Definition{name: name, declaredAt: callerPosition()}
	d.config, d.err = newConfigType(defaults)
	d.build = func(g *Graph, config any) { build(g, *config.(*C)) }
	if name == "" {
		d.err = errors.Join(errors.New("a job without a name"), d.err)
	}
	return d
}

// Name returns the job's name.
func (d *Definition) Name() string { return d.name }

// program implements Runnable. It returns a program that has only this job.
func (d *Definition) program() *Program {
	return &Program{Name: d.name, Jobs: []Runnable{d}}
}

// graph builds the graph for a configuration in JSON; an empty configuration means the
// defaults.
func (d *Definition) graph(config []byte) (*Graph, any, error) {
	decoded, err := d.config.decode(config)
	if err != nil {
		return nil, nil, err
	}
	g := &Graph{name: d.name, declaredAt: d.declaredAt, properties: make(map[string]string), named: make(outputNames)}
	d.build(g, decoded)
	return g, decoded, g.check()
}

// check implements anyJob. A configuration that the defaults leave incomplete is reported
// when the job runs, since the user may complete it.
func (d *Definition) check() error {
	if d.err != nil {
		return fmt.Errorf("%s: job %s: %w", d.declaredAt, d.name, d.err)
	}
	if _, err := d.config.decode(nil); err != nil {
		return nil
	}
	_, _, err := d.graph(nil)
	return err
}

// configType implements anyJob.
func (d *Definition) configType() *configType { return d.config }

// details implements anyJob. A stage that has one Node for each reduce needs at least one
// reduce, and so does the job.
func (d *Definition) details(config []byte) (details, error) {
	g, _, err := d.graph(config)
	if err != nil {
		return details{}, err
	}
	det := details{outputs: g.named.formats(), properties: g.properties, graph: g.shape, counts: make(map[string]nodeCount)}
	for _, s := range g.stages {
		det.counts[s.name] = g.nodesOf(s)
		det.disallow(s.name, s.disallowed)
		if s.source {
			det.inputs = append(det.inputs, s.input)
			det.readers = append(det.readers, s.name)
		} else {
			det.hasReduce = true
		}
		if g.nodesOf(s) == (nodeCount{kind: asReduces}) {
			det.needReduce = fmt.Errorf("%s=0: stage %s of job %s would have no nodes; set at least 1", conf.JobReduces, s.name, g.name)
		}
	}
	return det, nil
}

// sampleKeys implements anyJob. A graph has no total order by samples.
func (d *Definition) sampleKeys(context.Context, *sampler) error { return nil }

// RunNode implements task.Program. A graph that cannot be built fails the job: no other attempt
// would do better.
func (d *Definition) RunNode(n *task.NodeRun) error {
	g, config, err := d.graph(n.Attempt.Start.Config)
	if err != nil {
		return &task.FatalError{Err: err}
	}
	return g.runNode(n, config)
}

// shape returns the graph for these numbers of Nodes of the sources, by name, and this
// number of reduces. This graph is submitted, compared by its fingerprint, and shown by
// --dag.
func (g *Graph) shape(sources map[string]int, reduces int) dag.Graph {
	var out dag.Graph
	for _, s := range g.stages {
		out.Stages = append(out.Stages, dag.Stage{Name: s.name, Nodes: g.nodesOf(s).number(sources, reduces), Slots: s.slotKind()})
	}
	for _, l := range g.links {
		out.Edges = append(out.Edges, dag.Edge{From: l.from.name, To: l.to.name, Channel: l.channel, Connection: l.connection, Stored: l.stored, FilesOf: l.filesOf()})
	}
	return out
}

// Graph is the result of the function given to Define: stages made by Read, Group and Each,
// and the channels by which each stage reads earlier ones. There are no cycles, because a
// stage exists before any stage that reads it. Errors are collected and reported together,
// each with the position of the call that caused it.
type Graph struct {
	name       string
	declaredAt position // file:line of the call of Define
	stages     []*stage // in the order of their calls
	links      []*link  // in the order of their calls
	sides      []*side
	changed    []*channelFiles // of changed copies of channels
	properties map[string]string
	named      outputNames
	errs       []error
}

// Set sets a default of a property for this job; the command line overrides it.
func (g *Graph) Set(property, value string) { g.properties[property] = value }

// addOutput implements outputOwner.
func (g *Graph) addOutput(name string, o *ownedOutput) {
	o.graph = g
	if err := g.named.add(name, o); err != nil {
		g.errorf(callerPosition(), "%w", err)
	}
}

// errorf adds an error at a position in the user's code. Since the builders return no
// errors, the code that builds a graph reads as a list of stages.
func (g *Graph) errorf(place position, format string, args ...any) {
	g.errs = append(g.errs, fmt.Errorf("%s: job %s: %w", place, g.name, fmt.Errorf(format, args...)))
}
