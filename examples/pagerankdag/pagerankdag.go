// Package pagerankdag ranks the nodes of a graph as pagerank does, with all rounds in one
// job. The links are kept where they are; only shares of rank move between rounds, and the
// totals of each round.
//
//	edges ──> links ──┬────────────────┬─────── … ──┐
//	                  └──> round-0 ──> round-1 ──> … round-n
//
//	hammr run pagerankdag 10 links ranks
package pagerankdag

import (
	"context"
	"fmt"
	"iter"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr"
)

// Config sets the number of rounds, at least 1.
type Config struct{ Rounds int }

// Job reads lines of a node and the nodes that it links to, separated by tabs. It writes
// node, tab and rank: the same bytes as pagerank.
var Job = mr.Define("pagerankdag", Config{Rounds: 3}, func(g *mr.Graph, c Config) {
	edges := mr.Read(g, "edges", mr.KeyValueText(), mr.MapFunc(pagerank.Nodes))
	links := mr.Group(g, "links", mr.Reducer[[]byte, []byte, []byte, []byte](new(collect)), edges.Shuffle()).Keep()
	last := mr.Each(g, "round-0", mr.MapFunc(begin), links)
	for i := 1; i < c.Rounds; i++ {
		last = next(g, i, last, links, spread)
	}
	mr.Write(next(g, c.Rounds, last, links, show), mr.TextOutput[[]byte, []byte]())
})

// next adds a round, in which emit gets each node. Shares of rank are added on the way to it.
func next[V any](g *mr.Graph, i int, last *mr.Stage[[]byte, int64], links mr.Channel[[]byte, []byte], emit emitFunc[V]) *mr.Stage[[]byte, V] {
	r := &round[V]{last: last.Totals(), emit: emit}
	shares := last.Shuffle().Combine(mr.Sum[[]byte, int64]())
	return mr.With(mr.CoGroup(g, fmt.Sprintf("round-%d", i), mr.CoReducer[[]byte, int64, []byte, []byte, V](r), shares, links), r.last)
}

// The totals of a round that the next round needs.
const (
	nodes    = "nodes"
	stranded = "stranded" // rank of nodes without links
)

// emitFunc emits what becomes of a node with a new rank.
type emitFunc[V any] func(t *mr.Task, node, links []byte, rank int64, out mr.Emitter[[]byte, V])

// collect emits a node with the nodes that it links to.
type collect struct{ links []byte } // scratch

// Reduce implements mr.Reducer.
func (c *collect) Reduce(_ *mr.Task, node []byte, targets iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
	c.links = pagerank.AppendLinks(c.links[:0], targets)
	out.Emit(node, c.links)
	return nil
}

// begin gives a node rank 1.
func begin(t *mr.Task, node, links []byte, out mr.Emitter[[]byte, int64]) error {
	spread(t, node, links, pagerank.One, out)
	return nil
}

// spread sends an equal share of a node's rank over each link.
func spread(t *mr.Task, _, links []byte, rank int64, out mr.Emitter[[]byte, int64]) {
	t.Total(nodes).Add(1)
	if len(links) == 0 {
		t.Total(stranded).Add(rank)
	}
	for target, share := range pagerank.Shares(rank, links) {
		out.Emit(target, share)
	}
}

// show emits a node's rank as a decimal number.
func show(_ *mr.Task, node, _ []byte, rank int64, out mr.Emitter[[]byte, []byte]) {
	out.Emit(node, pagerank.AppendRank(nil, rank))
}

// round computes the rank of each node from the shares that it has received.
type round[V any] struct {
	last            *mr.Side[string, int64] // totals of the last round
	nodes, stranded int64
	emit            emitFunc[V]
}

// Setup implements mr.Setup.
func (r *round[V]) Setup(t *mr.Task) error {
	totals := r.last.Lookup(t)
	r.nodes, _ = totals.Get(nodes)
	r.stranded, _ = totals.Get(stranded)
	return nil
}

// Reduce implements mr.CoReducer. Each node has links, perhaps empty.
func (r *round[V]) Reduce(t *mr.Task, node []byte, shares iter.Seq[int64], links iter.Seq[[]byte], out mr.Emitter[[]byte, V]) error {
	var received int64
	for share := range shares {
		received += share
	}
	for kept := range links {
		r.emit(t, node, kept, pagerank.NewRank(received, r.stranded, r.nodes), out)
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
