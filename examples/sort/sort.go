// Package sort sorts lines of text by their bytes, as LC_ALL=C sort does. The output files,
// concatenated, are sorted, whatever their number.
//
//	pear          apple
//	apple   ──>   fig
//	fig           pear
//
//	hammr run sort -r 2 in out
package sort

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// nothing is the value of a record that has only a key. It takes no bytes in the shuffle,
// and TextOutput leaves it out.
type nothing = struct{}

// Job sorts lines. Only LF ends a line: a CR before it is part of the line, and so is a byte
// order mark at the start of a file.
var Job = mr.New("sort",
	mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, nothing]) error {
		out.Emit(line, nothing{})
		return nil
	}),
	mr.IdentityReducer[[]byte, nothing](),
	mr.TextOutput[[]byte, nothing](),
).TotalOrder().
	Set("textinputformat.record.delimiter", "\n").
	Set("hammr.input.keep.byte.order.mark", "true")

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "sort",
		Summary: "A map/reduce program that sorts the lines of the input files by their bytes.",
		Usage:   "[-r <reduces>] [-totalOrder <pcnt> <num samples> <max splits>] <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

// run accepts the options of Hadoop's Sort that make sense for lines of text. -totalOrder is
// accepted for compatibility: the order is always total, and the engine chooses its samples.
func run(ctx context.Context, d *mr.Driver) error {
	const onlyText = "only lines of text are sorted here"
	var reduces int64 // 0 for the default of the property
	args, err := arguments.Options{
		"-r":          arguments.Number(&reduces, 1),
		"-totalOrder": arguments.Values(3, "three numbers are expected", checkSampler),
		"-inFormat":   arguments.Refused(onlyText),
		"-outFormat":  arguments.Refused(onlyText),
		"-outKey":     arguments.Refused(onlyText),
		"-outValue":   arguments.Refused(onlyText),
	}.Parse(d.Args)
	if err != nil {
		return err
	}
	last := len(args) - 1
	if last < 1 {
		return mr.ErrUsage
	}
	set := make(map[string]string)
	if reduces > 0 {
		set["mapreduce.job.reduces"] = fmt.Sprint(reduces)
	}
	return d.Run(ctx, Job, mr.JobRun{In: args[:last], Out: args[last], Set: set})
}

// checkSampler checks the arguments of Hadoop's sampler: the share of keys, the number of
// samples and the number of splits.
func checkSampler(values []string) error {
	if share, err := strconv.ParseFloat(values[0], 64); err != nil || !(share >= 0 && share <= 1) {
		return fmt.Errorf("%q is not a share from 0 to 1", values[0])
	}
	for _, v := range values[1:] {
		if _, err := arguments.WholeNumber(v, 1); err != nil {
			return err
		}
	}
	return nil
}
