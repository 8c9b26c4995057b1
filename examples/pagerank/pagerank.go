// Package pagerank ranks the nodes of a graph by the links between them, round
// after round. Ranks are whole numbers of billionths, so their sums are the
// same in whatever order they are added, and the output is the same bytes each
// time. The mean of all ranks is 1.
package pagerank

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// one is the rank 1; shares of a rank that are less than a billionth are lost.
const one = 1_000_000_000

// A surfer follows a link 17 times out of 20, and goes anywhere otherwise.
const (
	follow = 17
	outOf  = 20
)

// The counters that one round leaves to the next.
const (
	counters = "PageRank"
	nodes    = "Nodes"               // of the graph
	stranded = "Stranded rank (e-9)" // of nodes without links; it goes to all nodes
)

// Program is the command.
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
	rounds, err := strconv.Atoi(d.Args[0])
	if err != nil || rounds < 1 {
		return fmt.Errorf("%w: iterations %q: expected a number of at least 1", mr.ErrUsage, d.Args[0])
	}
	edges, out := d.Args[1:2], d.Args[2]
	if err := d.CheckOutput(ctx, edges, out); err != nil {
		return err
	}
	return iterate(ctx, d, rounds, edges, out)
}

// iterate runs the rounds; each reads what the one before has written.
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
