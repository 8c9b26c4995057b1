// Package teravalidate checks that the rows of a directory are sorted, within each file and
// from file to file, and adds up their checksums. Its report is that of Hadoop's
// teravalidate: a line "checksum" and a line "error" for each place where the order is
// broken. As with Hadoop, the exit code is 0 in both cases: only a report without errors
// means that the rows are sorted.
package teravalidate

import (
	"context"
	"iter"

	"github.com/hammr/hammr/examples/teragen"
	"github.com/hammr/hammr/mr"
)

// place is where a finding belongs: sums before stretches, and stretches by
// file and offset.
type place = mr.Triple[kind, string, int64]

type kind uint8

const (
	sums kind = iota
	stretches
)

// finding is a checksum, in Second alone, or a stretch: its file, its first key
// and its last.
type finding = mr.Triple[string, string, string]

// Job checks rows of 100 bytes whose keys are their first 10. How its input is
// split makes no difference to the report.
var Job = mr.New("teravalidate",
	mr.FixedLength(teragen.RowSize),
	&scan{},
	mr.ReduceFunc(func(_ *mr.Task, p place, found iter.Seq[finding], out mr.Emitter[string, string]) error {
		if p.First == sums {
			out.Emit("checksum", total(found))
			return nil
		}
		for disorder := range disorders(found) {
			out.Emit("error", disorder)
		}
		return nil
	}),
	mr.TextOutput[string, string](),
).GroupFirst().Reduces(1)

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "teravalidate",
		Summary: "Checking results of terasort",
		Usage:   "<out-dir> <report-dir>",
		Jobs:    []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			if len(d.Args) != 2 {
				return mr.ErrUsage
			}
			return d.Run(ctx, Job, mr.JobRun{In: d.Args[:1], Out: d.Args[1]})
		},
	}
}
