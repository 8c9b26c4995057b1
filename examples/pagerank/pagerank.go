// Package pagerank ranks the nodes of a graph by the links between them. It runs one job for
// each round; each job reads the output of the previous job.
//
//	a	b	c            a	1.369003649
//	b	a      ──>     b	0.815498172
//	c	a              c	0.815498172
//
//	hammr run pagerank 10 links ranks
//
// The input has a line for each node, with the nodes that it links to. Ranks are whole
// numbers of billionths. Their sums do not depend on the order, so the output is the same
// bytes in each run. The mean of all ranks is 1.
package pagerank

import (
	"context"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// The counters that one round passes to the next.
const (
	counters = "PageRank"
	nodes    = "Nodes"               // number of nodes of the graph
	stranded = "Stranded rank (e-9)" // rank of nodes without links; all nodes share it
)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "pagerank",
		Summary: "A map/reduce program that computes the PageRank of the nodes of a graph.",
		Usage:   "<iterations> <in> <out>",
		Jobs:    []mr.Runnable{Graph, Round, LastRound},
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
	edges, out := d.Args[1:2], d.Args[2]
	if err := d.CheckOutput(ctx, edges, out); err != nil {
		return err
	}
	return iterate(ctx, d, rounds, edges, out)
}

// iterate runs the rounds. Each round reads the output of the previous round, which is then
// removed. The counters of a job give the totals that the next round needs.
func iterate(ctx context.Context, d *mr.Driver, rounds int, edges []string, out string) error {
	ranks := d.TempDir(out)
	found, err := d.RunCounted(ctx, Graph, mr.JobRun{In: edges, Out: ranks})
	if err != nil {
		return err
	}
	config := Config{Nodes: found[counters][nodes]}
	for round := 1; round <= rounds; round++ {
		job, next := mr.Runnable(Round), d.TempDir(out)
		if round == rounds {
			job, next = LastRound, out
		}
		config.Stranded = found[counters][stranded]
		if found, err = d.RunCounted(ctx, job, mr.JobRun{In: []string{ranks}, Out: next, Config: config}); err != nil {
			return err
		}
		if err := d.Remove(ctx, ranks); err != nil {
			return err
		}
		ranks = next
	}
	return nil
}
