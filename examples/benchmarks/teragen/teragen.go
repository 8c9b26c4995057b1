// Package teragen writes the rows that the sort benchmark sorts: 100 bytes each, identical
// to the rows of Hadoop's TeraGen and of gensort.
//
//	hammr run teragen 1m rows       # a million rows, 100 MB
//
// The generator can start at any row, so each map makes its rows without a pass over earlier
// rows. See rows for the bytes of a row.
package teragen

import (
	"context"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// rowsProperty is the number of rows to make.
const rowsProperty = "mapreduce.terasort.num-rows"

// generate makes the row for each number that it gets.
type generate struct {
	rows     rows
	checksum *mr.Counter
}

// Setup implements mr.Setup.
func (g *generate) Setup(t *mr.Task) error {
	g.checksum = t.Counter("org.apache.hadoop.examples.terasort.TeraGen$Counters", "CHECKSUM")
	return nil
}

// Map implements mr.Mapper.
func (g *generate) Map(_ *mr.Task, n int64, _ struct{}, out mr.Emitter[[]byte, []byte]) error {
	row := g.rows.at(n)
	g.checksum.Add(int64(crc32.ChecksumIEEE(row)))
	out.Emit(row[:KeySize], row[KeySize:])
	return nil
}

// Job writes rows in order of their numbers.
var Job = mr.MapOnly("teragen", mr.Numbers(rowsProperty), &generate{}, mr.BytesOutput())

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "teragen",
		Summary: "Generate data for the terasort",
		Usage:   "<num rows> <output dir>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) != 2 {
		return mr.ErrUsage
	}
	n, err := parseRows(d.Args[0])
	if err != nil {
		return fmt.Errorf("%w: %w", mr.ErrUsage, err)
	}
	return d.Run(ctx, Job, mr.JobRun{Out: d.Args[1], Set: map[string]string{rowsProperty: fmt.Sprint(n)}})
}

// suffixes are the letters that may end a number of rows, with their factors.
var suffixes = map[byte]int64{'k': 1e3, 'm': 1e6, 'b': 1e9, 't': 1e12}

// parseRows reads a number of rows as Hadoop's teragen does: 10k, 1m, 1b, 1t.
func parseRows(text string) (int64, error) {
	number, unit := text, int64(1)
	if last := len(text) - 1; last >= 0 && suffixes[text[last]] > 0 {
		number, unit = text[:last], suffixes[text[last]]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > maxRows/unit {
		return 0, fmt.Errorf("%q is not a number of rows: write 1000, 10k, 1m, 1b or 1t, up to %d", text, int64(maxRows))
	}
	return n * unit, nil
}

// maxRows is the greatest number of rows whose bytes can be counted.
const maxRows = (1<<63 - 1) / RowSize
