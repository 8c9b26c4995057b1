// Package mrbench measures the time of a small job from submission to end. It runs a job on
// a few lines of text several times, as Hadoop's MRBench does.
//
//	DataLines	Maps	Reduces	AvgTime (milliseconds)
//	1		2	1	12
//
//	hammr run mrbench -baseDir /tmp/mrbench -numRuns 10
//
// The number of maps is exact, however few lines there are.
package mrbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hammr/hammr/mr"
)

// Job copies lines, each as a key with an empty value. It does as little as a job can, so what
// is measured is the cost of the engine: splits, submission, the start of tasks, the shuffle's
// connections, and the commit.
var Job = mr.New("mrbench",
	pieces{mr.TextLines()},
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, []byte]) error {
		out.Emit(line, nil)
		return nil
	}),
	mr.IdentityReducer[[]byte, []byte](),
	mr.TextOutput[[]byte, []byte](),
)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "mrbench",
		Summary: "A map/reduce benchmark that can create many small jobs.",
		Usage: "[-baseDir <directory for input and output, default " + defaultDir + ">] [-numRuns <runs, default 1>]" +
			" [-maps <maps of each run, default 2>] [-reduces <reduces of each run, default 1>]" +
			" [-inputLines <lines, default 1>] [-inputType <ascending (default), descending or random>] [-verbose]",
		Jobs: []mr.Runnable{Job},
		Run:  run,
	}
}

// run makes the input once, runs the job as often as asked for, and prints the table. The time
// of a run includes the client's work: splits, submission and the wait for the end.
func run(ctx context.Context, d *mr.Driver) error {
	o, err := parseOptions(d.Args)
	if err != nil {
		return err
	}
	bench := &bench{Driver: d, options: o, in: d.TempDir(o.unique("input"))}
	if err := bench.makeInput(ctx); err != nil {
		return err
	}
	var times []time.Duration
	for range o.runs {
		took, err := bench.runOnce(ctx)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	return o.report(d.Stdout, times)
}

// bench is one run of the program. Its directories come from TempDir, so they are removed when
// the program ends, also after an error.
type bench struct {
	*mr.Driver
	options
	in string // directory of the input
}

// makeInput writes the lines. It removes the file if it cannot write it whole.
func (b *bench) makeInput(ctx context.Context) error {
	w, err := b.Create(ctx, b.in+"/lines.txt")
	if err != nil {
		return err
	}
	if err := b.writeLines(w); err != nil {
		_ = w.Abort()
		return err
	}
	return w.Close()
}

// runOnce runs the job and returns how long it took. It removes the output, so that runs do not
// fill the disk. The removal is not part of the time.
func (b *bench) runOnce(ctx context.Context) (time.Duration, error) {
	run := mr.JobRun{In: []string{b.in + "/lines.txt"}, Out: b.TempDir(b.unique("output")), Set: map[string]string{
		mapsProperty: fmt.Sprint(b.maps), "mapreduce.job.reduces": fmt.Sprint(b.reduces),
	}}
	began := time.Now()
	if err := b.Run(ctx, Job, run); err != nil {
		return 0, err
	}
	return time.Since(began), b.Remove(ctx, run.Out)
}

// unique returns a name in the program's directory that no other run uses, as Hadoop's mrbench
// does with a random number.
func (o *options) unique(name string) string {
	return fmt.Sprintf("%s/%s_%d", o.dir, name, rand.Uint32())
}
