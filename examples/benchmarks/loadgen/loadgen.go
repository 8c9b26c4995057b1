// Package loadgen gives a job the load of another one: its maps emit a part of their input, or several
// times as much, and its reduces write a part of what they get. It is Hadoop's generic load generator
// for the rows of teragen.
//
//	hammr run teragen 1m rows                                          # 100 MB
//	hammr run loadgen -keepmap 40 -keepred 250 -indir rows -outdir out # shuffles 40 MB, writes 100 MB
//
// Whether a row is kept is drawn from its bytes. So the output depends neither on the division of the
// work nor on attempts that run again. The number of rows is right on average: of n rows at 40 %, it
// misses by about the square root of n/4.
package loadgen

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// Config says how many rows are kept, for each row that is read: 1 keeps all, 2 writes each twice.
type Config struct {
	KeepMap    float64 // rows that maps emit
	KeepReduce float64 // rows that reduces write
}

// copies returns how often a row is written: keep times on average.
func copies(keep float64, salt uint64, key, value []byte) int {
	h := salt
	for _, part := range [2][]byte{key, value} {
		for _, b := range part {
			h = (h ^ uint64(b)) * 0x100000001b3
		}
	}
	h ^= h >> 32 // the high bits of the product depend on all bytes, the low ones do not
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return int(keep + float64(h>>11)/(1<<53))
}

// The drawings of maps and of reduces are independent.
const mapSalt, reduceSalt = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f

func emit(t *mr.Task, _ int64, row []byte, out mr.Emitter[[]byte, []byte]) error {
	key, value := row[:teragen.KeySize], row[teragen.KeySize:]
	for range copies(mr.ConfigOf[Config](t).KeepMap, mapSalt, key, value) {
		out.Emit(key, value)
	}
	return nil
}

func write(t *mr.Task, key []byte, values iter.Seq[[]byte], out mr.Emitter[[]byte, []byte]) error {
	keep := mr.ConfigOf[Config](t).KeepReduce
	for value := range values {
		for range copies(keep, reduceSalt, key, value) {
			out.Emit(key, value)
		}
	}
	return nil
}

// Job reads and writes rows of 100 bytes.
var Job = mr.WithConfig(mr.New("loadgen",
	mr.FixedLength(teragen.RowSize),
	mr.MapFunc(emit),
	mr.ReduceFunc(write),
	mr.BytesOutput(),
), Config{1, 1})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "loadgen",
		Summary: "Generic map/reduce load generator",
		Usage:   "[-r <reduces>] [-keepmap <percent>] [-keepred <percent>] -indir <path> -outdir <path>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

// run accepts the options of Hadoop's program that make sense for rows.
func run(ctx context.Context, d *mr.Driver) error {
	const onlyRows = "only rows of 100 bytes are read and written here"
	c, set := Config{1, 1}, make(map[string]string)
	var in, out string
	text := func(to *string) arguments.Option {
		return arguments.Value(func(value string) error { *to = value; return nil })
	}
	err := arguments.Options{
		"-keepmap": percent(&c.KeepMap),
		"-keepred": percent(&c.KeepReduce),
		"-indir":   text(&in),
		"-outdir":  text(&out),
		"-r": arguments.Value(func(value string) error {
			set["mapreduce.job.reduces"] = value
			_, err := arguments.WholeNumber(value, 0)
			return err
		}),
		"-m":                arguments.Refused("the input has as many maps as blocks"),
		"-inFormat":         arguments.Refused(onlyRows),
		"-inFormatIndirect": arguments.Refused(onlyRows),
		"-outFormat":        arguments.Refused(onlyRows),
		"-outKey":           arguments.Refused(onlyRows),
		"-outValue":         arguments.Refused(onlyRows),
	}.ParseAll(d.Args)
	if err == nil && (in == "" || out == "") {
		err = mr.ErrUsage
	}
	if err != nil {
		return err
	}
	return d.Run(ctx, Job, mr.JobRun{In: []string{in}, Out: out, Set: set, Config: c})
}

// percent returns an option whose value is a percentage, of which it stores the fraction.
func percent(to *float64) arguments.Option {
	return arguments.Value(func(value string) error {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x <= maxPercent) {
			return fmt.Errorf("%q is not a number of percent from 0 to %.0e", value, maxPercent)
		}
		*to = x / 100
		return nil
	})
}

// maxPercent bounds the copies of a row, so that a task reports progress between two of them.
const maxPercent = 1e9
