// Package pagerankdag ranks the nodes of a graph as pagerank does, with all rounds in one
// job. The links are kept where they are; only shares of rank move between rounds.
//
//	edges ──> links ──┬────────────────┬─────── … ──┐
//	                  └──> round-0 ──> round-1 ──> … round-n
//
//	hammr run pagerankdag 10 links ranks
//
// A round needs two totals of the previous round: the number of nodes, and the rank of the
// nodes without links. Each Node of a stage sends its part of the totals to each Node of the
// next round, under keys that sort before all nodes.
package pagerankdag

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr"
)

// Config sets the number of rounds.
type Config struct {
	Rounds int
}

// Validate reports a number of rounds that is out of range.
func (c *Config) Validate() error {
	if c.Rounds < 1 {
		return fmt.Errorf("%d rounds; expected at least 1", c.Rounds)
	}
	return nil
}

// Job reads lines of a node and the nodes that it links to, separated by tabs. It writes
// node, tab and rank: the same bytes as pagerank.
var Job = mr.Define("pagerankdag", Config{Rounds: 3}, func(g *mr.Graph, c Config) {
	edges := mr.Read(g, "edges", mr.KeyValueText(), mr.MapFunc(pagerank.Nodes))
	links := mr.Group(g, "links", mr.ReduceFunc(collect), edges.Shuffle()).Keep()
	last := mr.Each(g, "round-0", mr.Mapper[[]byte, []byte, []byte, int64](new(firstRound)), links)
	for i := 1; i < c.Rounds; i++ {
		last = mr.CoGroup(g, fmt.Sprintf("round-%d", i), mr.CoReducer[[]byte, []byte, int64, []byte, int64](new(round)), links, flow(last))
	}
	ranks := mr.CoGroup(g, fmt.Sprintf("round-%d", c.Rounds), mr.CoReducer[[]byte, []byte, int64, []byte, []byte](new(lastRound)), links, flow(last))
	mr.Write(ranks, mr.TextOutput[[]byte, []byte]())
})

// flow returns the channel over which shares of rank get to the next round. They are added on
// the way.
func flow(from *mr.Stage[[]byte, int64]) mr.Channel[[]byte, int64] {
	return from.Shuffle().Combine(mr.Sum[[]byte, int64]()).Partition(partition)
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "pagerankdag",
		Summary: "A program that computes the PageRank of the nodes of a graph, all rounds in one job.",
		Usage:   "<iterations> <in> <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) != 3 {
		return mr.ErrUsage
	}
	rounds, err := arguments.Count("iterations", d.Args[0])
	if err != nil {
		return err
	}
	return d.Run(ctx, Job, mr.JobRun{In: d.Args[1:2], Out: d.Args[2], Config: Config{Rounds: rounds}})
}
