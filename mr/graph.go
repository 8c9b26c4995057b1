package mr

import (
	"fmt"
	"strconv"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
)

// JobGraph is a job of a program with its graph.
type JobGraph struct {
	Job   string
	Graph dag.Graph
}

// Graphs returns the graphs of the program's jobs, in the order of Jobs and in their default
// configuration. Each stage that reads input has maps Nodes; in a run their number follows
// from the input. If reduces is less than 0, each job has the number of reduces that it asks
// for. A job without a reduce phase has none in any case.
//
// An error wraps ErrUsage if a job cannot run with these numbers.
func (p *Program) Graphs(maps, reduces int) ([]JobGraph, error) {
	if _, err := p.jobs(); err != nil {
		return nil, err
	}
	var graphs []JobGraph
	for _, r := range p.Jobs {
		j := r.(anyJob) // jobs has checked it
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

// defaults is the configuration of a job with this number of reduces; less than 0 leaves it
// as the job says.
func (det details) defaults(reduces int) (*conf.Conf, error) {
	c, err := conf.FromMap(det.properties)
	if err == nil && reduces >= 0 {
		_, err = c.Set(conf.JobReduces, strconv.Itoa(reduces))
	}
	return c, err
}

// shape is the graph of the job under a configuration.
func (det details) shape(c *conf.Conf, nodes map[string]int, reduces int) dag.Graph {
	g := det.graph(nodes, reduces)
	if c.Bool(conf.ChannelsStored) {
		return g.Store()
	}
	return g
}
