// Package histogram counts numbers by the bucket that they fall into.
//
//	0.1 0.4 2.5   ──>   0	2
//	                    2	1
//
//	hammr run histogram 1 in out
package histogram

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// Config sets the width of a bucket. In JSON the Width is a whole number of millionths.
type Config struct{ Width decimal.Number }

// Validate returns an error for a width that is not positive. The driver calls it before the
// job is submitted, and each task when it decodes the configuration.
func (c *Config) Validate() error {
	if c.Width <= 0 {
		return fmt.Errorf("bucket width %v: expected more than 0", c.Width)
	}
	return nil
}

// Job reads numbers, any number of them in a line, and counts them by bucket. For each
// bucket that is not empty it writes the lower bound and the count. The lower bound is a
// multiple of the width and belongs to the bucket; the next bound does not. TotalOrder puts
// the buckets in order over all output files.
var Job = mr.WithConfig(mr.New("histogram",
	mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[decimal.Number, int64]) error {
		width := mr.ConfigOf[Config](t).Width
		for word := range mr.Words(line) {
			n, err := decimal.Parse(word)
			if err != nil {
				return err
			}
			bound, ok := n.Floor(width)
			if !ok {
				return fmt.Errorf("%v: its bucket begins below the least number", n)
			}
			out.Emit(bound, 1)
		}
		return nil
	}),
	mr.Sum[decimal.Number, int64](),
	mr.TextOutput[decimal.Number, int64](),
).Combine(mr.Sum[decimal.Number, int64]()).TotalOrder(), Config{Width: decimal.One})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "histogram",
		Summary: "A map/reduce program that counts the numbers of the input files by buckets of equal width.",
		Usage:   "<bucket width> <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

// run takes the width as a decimal number, such as 0.5.
func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 3 {
		return mr.ErrUsage
	}
	width, err := decimal.Parse([]byte(d.Args[0]))
	config := Config{Width: width}
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", mr.ErrUsage, err)
	}
	last := len(d.Args) - 1
	return d.Run(ctx, Job, mr.JobRun{In: d.Args[1:last], Out: d.Args[last], Config: config})
}
