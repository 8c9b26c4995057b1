// Package kmeans finds k centres of points, so that each point is near to one of them, by
// Lloyd's iteration. All rounds are one job:
//
//	points ─┬─> points-top ──side──┐
//	        ├──────────────────> assign-1 ──> centres-1 ──side──┐
//	        └─────────────────────────────────────────────> assign-2 ──> …
//
//	0 0            0	1 1	2
//	2 2     ──>    1	100 100	1       centre, its coordinates, and how many points
//	100 100
//
//	hammr run kmeans 2 5 points centres
//
// Each round reads the points where they are kept, in binary form. Coordinates are whole numbers
// of millionths, and their sums are exact. So nothing depends on the order of the points, and the
// output is the same bytes in each run. A coordinate is up to 10^9, and the job fails if those of
// the points around one centre add up to more than 9.2 * 10^12.
package kmeans

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// Config sets the number of centres and of rounds.
type Config struct {
	Centres int // number of centres; fewer are found if fewer points differ
	Rounds  int // at least 1
}

// Job reads lines of coordinates, separated by spaces, tabs or commas. For each centre it
// writes its number, its coordinates and the number of points that are nearest to it. The first
// centres are the points with the least hashes.
var Job = mr.Define("kmeans", Config{Centres: 3, Rounds: 3}, func(g *mr.Graph, c Config) {
	read := mr.Read(g, "points", mr.TextLines(), mr.MapFunc(parse))
	points, centres := read.Keep(), read.TopDistinct(c.Centres, mr.ByKey)
	for i := 1; i <= max(c.Rounds, 1); i++ {
		before := centres.Broadcast()
		near := mr.Each(g, fmt.Sprintf("assign-%d", i), mr.Mapper[uint64, cloud, uint64, cloud](&assign{before: before}), points)
		mr.With(near, before)
		centres = mr.Group(g, fmt.Sprintf("centres-%d", i), mr.Fold[uint64](cloud.join), near.Shuffle())
	}
	mr.Write(centres, mr.TextOutput[uint64, cloud]())
})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "kmeans",
		Summary: "A program that finds centres of points, all rounds in one job.",
		Usage:   "<centres> <rounds> <in> <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) != 4 {
		return mr.ErrUsage
	}
	centres, err1 := arguments.Count("centres", d.Args[0])
	rounds, err2 := arguments.Count("rounds", d.Args[1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return d.Run(ctx, Job, mr.JobRun{In: d.Args[2:3], Out: d.Args[3], Config: Config{Centres: centres, Rounds: rounds}})
}
