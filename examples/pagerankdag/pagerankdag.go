// Package pagerankdag ranks the nodes of a graph as pagerank does, with all rounds in one
// job: each round is a stage that reads the previous one.
//
//	edges ──> graph ──> round-1 ──> … ──> round-n
//
//	hammr run pagerankdag 10 links ranks
//
// A round needs two totals of the previous round: the number of nodes, and the rank of the
// nodes without links. Each Node of a stage sends its part of the totals to each Node of the
// next round, under keys that sort before all nodes.
package pagerankdag

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

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
	last := mr.Group(g, "graph", mr.Reducer[[]byte, []byte, address, state](new(start)), edges.Shuffle())
	for i := 1; i < c.Rounds; i++ {
		last = mr.Group(g, fmt.Sprintf("round-%d", i), mr.Reducer[address, state, address, state](new(round)), flow(last))
	}
	ranks := mr.Group(g, fmt.Sprintf("round-%d", c.Rounds), mr.Reducer[address, state, []byte, []byte](new(lastRound)), flow(last))
	mr.Write(ranks, mr.TextOutput[[]byte, []byte]())
})

// flow returns the channel over which the ranks of a round get to the next round.
func flow(from *mr.Stage[address, state]) mr.Channel[address, state] {
	return from.Shuffle().Combine(mr.Fold[address](merge)).Partition(partition)
}

// start gives each node rank 1.
type start struct{ spread }

// Reduce implements mr.Reducer.
func (s *start) Reduce(_ *mr.Task, node []byte, targets iter.Seq[[]byte], out mr.Emitter[address, state]) error {
	s.emit(node, pagerank.One, pagerank.Links(targets), out)
	return nil
}

// round lets ranks flow over the links once.
type round struct {
	ranking
	spread
}

// Reduce implements mr.Reducer.
func (r *round) Reduce(_ *mr.Task, to address, states iter.Seq[state], out mr.Emitter[address, state]) error {
	if node, rank, links := r.rank(to, states); node != nil {
		r.emit(node, rank, links, out)
	}
	return nil
}

// roundState is the saved form of a round.
type roundState struct {
	Ranking *ranking
	Spread  *spread
}

// Save implements mr.Stateful.
func (r *round) Save() ([]byte, error) { return json.Marshal(roundState{&r.ranking, &r.spread}) }

// Load implements mr.Stateful.
func (r *round) Load(saved []byte) error {
	return json.Unmarshal(saved, &roundState{&r.ranking, &r.spread})
}

// lastRound writes ranks as decimal numbers.
type lastRound struct{ ranking }

// Reduce implements mr.Reducer.
func (r *lastRound) Reduce(_ *mr.Task, to address, states iter.Seq[state], out mr.Emitter[[]byte, []byte]) error {
	if node, rank, _ := r.rank(to, states); node != nil {
		out.Emit(node, pagerank.AppendRank(nil, rank))
	}
	return nil
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
