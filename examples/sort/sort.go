// Package sort sorts lines of text by their bytes, as LC_ALL=C sort does. The
// output's files, one behind the other, are sorted whatever their number.
package sort

import (
	"context"

	"github.com/hammr/hammr/mr"
)

type nothing = struct{}

// Job sorts lines. Lines end in LF alone: a CR before it is part of the line.
var Job = mr.New("sort",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, nothing]) error {
		out.Emit(line, nothing{})
		return nil
	}),
	mr.IdentityReducer[[]byte, nothing](),
	mr.TextOutput[[]byte, nothing](),
).TotalOrder().Set("textinputformat.record.delimiter", "\n")

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "sort",
		Summary: "A map/reduce program that sorts the lines of the input files by their bytes.",
		Usage:   "[-r <reduces>] [-totalOrder <pcnt> <num samples> <max splits>] <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	o, err := parseOptions(d.Args)
	if err != nil {
		return err
	}
	set := make(map[string]string)
	if o.reduces != "" {
		set["mapreduce.job.reduces"] = o.reduces
	}
	return d.Run(ctx, Job, mr.JobRun{In: o.in, Out: o.out, Set: set})
}
