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
		c, err := det.defaults(reduces)
		if err != nil {
			return nil, err
		}
		g, err := jobGraph(det, c, maps)
		if err != nil {
			return nil, fmt.Errorf("%w: job %s: %w", ErrUsage, j.Name(), err)
		}
		graphs = append(graphs, JobGraph{Job: j.Name(), Graph: g})
	}
	return graphs, nil
}

// defaults is the configuration of a job that is asked for so many reduces; below
// 0 for as many as it asks for itself.
func (det details) defaults(reduces int) (*conf.Conf, error) {
	c, err := conf.FromMap(det.properties)
	if err == nil && reduces >= 0 {
		_, err = c.Set(conf.JobReduces, strconv.Itoa(reduces))
	}
	return c, err
}

// shape is the graph as the configuration has it.
func (det details) shape(c *conf.Conf, nodes map[string]int, reduces int) dag.Graph {
	g := det.graph(nodes, reduces)
	if c.Bool(conf.ChannelsStored) {
		return g.Store()
	}
	return g
}
