package mr

import (
	"fmt"
	"strconv"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
)

// JobGraph is a job of a program with the graph that it is when it runs.
type JobGraph struct {
	Job   string
	Graph dag.Graph
}

// Graphs are the graphs of the program's jobs, in the order of Jobs and in their
// default configuration, with that many Nodes in each stage that reads input,
// and that many reduces. In a run the former follow from the input. With reduces
// below 0 each job has as many as it asks for itself; a job without
// reduce phase has none in any case.
//
// It fails, wrapping ErrUsage, for numbers that a job cannot run with.
func (p *Program) Graphs(maps, reduces int) ([]JobGraph, error) {
	if _, err := p.jobs(); err != nil {
		return nil, err
	}
	var graphs []JobGraph
	for _, r := range p.Jobs {
		j := r.(anyJob) // jobs has looked
		det, err := j.details(nil)
		if err != nil {
			return nil, err
		}
		g, err := jobGraph(det, maps, reduces)
		if err != nil {
			return nil, fmt.Errorf("%w: job %s: %w", ErrUsage, j.Name(), err)
		}
		graphs = append(graphs, JobGraph{Job: j.Name(), Graph: g})
	}
	return graphs, nil
}

func jobGraph(det details, maps, asked int) (dag.Graph, error) {
	c, err := conf.FromMap(det.properties)
	if err != nil {
		return dag.Graph{}, err
	}
	if asked >= 0 {
		if _, err := c.Set(conf.JobReduces, strconv.Itoa(asked)); err != nil {
			return dag.Graph{}, err
		}
	}
	n := reduces(det, c)
	if n == 0 && det.hasReduce && det.needReduce != nil {
		return dag.Graph{}, det.needReduce
	}
	nodes := make(map[string]int)
	for _, reader := range det.readers {
		nodes[reader] = maps
	}
	g := det.shape(c, nodes, n)
	return g, g.Validate()
}

// shape is the graph as the configuration has it.
func (det details) shape(c *conf.Conf, nodes map[string]int, reduces int) dag.Graph {
	g := det.graph(nodes, reduces)
	if c.Bool(conf.ChannelsStored) {
		return g.Store()
	}
	return g
}
