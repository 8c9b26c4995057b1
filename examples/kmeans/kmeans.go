// Package kmeans finds k centres of points, so that each point is near to one of them, by
// Lloyd's iteration. All rounds are one job:
//
//	points ─┬─> seed ──> centres-0 ──side──┐
//	        ├────────────────────────> assign-1 ──> centres-1 ──side──┐
//	        └───────────────────────────────────────────────────> assign-2 ──> …
//
//	0 0            0	1 1	2
//	2 2     ──>    1	100 100	1       centre, its coordinates, and how many points
//	100 100
//
//	hammr run kmeans 2 5 points centres
//
// The points are parsed once and kept in binary form. Each round reads them where they are
// kept, and has the centres of the previous round in memory. Coordinates are whole numbers of millionths, their sums are
// exact, and distances are compared exactly. So nothing depends on the order of the points,
// and the output is the same bytes in each run.
package kmeans

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// Config sets the number of centres and of rounds.
type Config struct {
	Centres int // number of centres; fewer are found if fewer points differ
	Rounds  int
}

// Validate reports values out of range. The check is here and not only in run, because
// another program can run the job with its own configuration.
func (c *Config) Validate() error {
	if c.Centres < 1 || c.Rounds < 1 {
		return fmt.Errorf("%d centres in %d rounds; expected at least 1 of each", c.Centres, c.Rounds)
	}
	return nil
}

// Job reads lines of coordinates, separated by spaces, tabs or commas. For each centre it
// writes its number, its coordinates and the number of points that are nearest to it.
var Job = mr.Define("kmeans", Config{Centres: 3, Rounds: 3}, func(g *mr.Graph, c Config) {
	points := mr.Read(g, "points", mr.TextLines(), mr.MapFunc(read)).Keep()
	seeds := mr.Each(g, "seed", mr.Mapper[int64, []byte, seed, struct{}](&sample{most: c.Centres}), points)
	centres := mr.Group(g, "centres-0", mr.Reducer[seed, struct{}, int64, centre](&choose{most: c.Centres}),
		seeds.Via(dag.ChannelFile, mr.Gather))
	for i := 1; i <= c.Rounds; i++ {
		before := centres.Broadcast()
		near := mr.Each(g, fmt.Sprintf("assign-%d", i), mr.Mapper[int64, []byte, int64, cloud](&assign{before: before}), points)
		mr.With(near, before)
		centres = mr.Group(g, fmt.Sprintf("centres-%d", i), mr.ReduceFunc(middle), near.Shuffle().Combine(mr.Fold[int64](cloud.join)))
	}
	mr.Write(centres, mr.TextOutput[int64, centre]())
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
	centres, err := arguments.Count("centres", d.Args[0])
	if err != nil {
		return err
	}
	rounds, err := arguments.Count("rounds", d.Args[1])
	if err != nil {
		return err
	}
	return d.Run(ctx, Job, mr.JobRun{In: d.Args[2:3], Out: d.Args[3], Config: Config{Centres: centres, Rounds: rounds}})
}
