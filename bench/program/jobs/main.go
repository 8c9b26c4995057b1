// Command jobs runs the jobs of benchmarks that no bundled program does:
//
//	jobs NAME IN... OUT
//
// The lines of a log have a time in seconds, a user, a page and a duration. The lines of customers
// have a customer and a region, those of orders a customer, an amount and an item. Tabs separate
// the fields.
package main

import (
	"context"

	"github.com/hammr/hammr/mr"
)

type nothing = struct{}

// jobs are all jobs, by the names that the first argument has.
var jobs = map[string]mr.Runnable{
	"naive": naive, "plain": plain, "index": index, "pairs": pairs, "sessions": sessions, "toppages": topPages,
	"joinbroadcast": joinBroadcast, "joinshuffle": joinShuffle,
}

func main() {
	p := &mr.Program{Name: "jobs", Usage: "<job> <in> [<in>...] <out>", Run: run}
	for _, job := range jobs {
		p.Jobs = append(p.Jobs, job)
	}
	mr.Main(p)
}

// run runs the job of the first argument. The last argument is its output.
func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 3 || jobs[d.Args[0]] == nil {
		return mr.ErrUsage
	}
	last := len(d.Args) - 1
	return d.Run(ctx, jobs[d.Args[0]], mr.JobRun{In: d.Args[1:last], Out: d.Args[last]})
}
