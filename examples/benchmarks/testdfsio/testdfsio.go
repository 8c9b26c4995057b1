// Package testdfsio measures how fast files are written and read, as Hadoop's TestDFSIO
// does. Each map writes or reads one file and measures itself, the reduce adds up, and the
// program prints the rates and appends them to a log. It works on every file system.
//
//	hammr run TestDFSIO -write -nrFiles 4 -size 100MB
//	hammr run TestDFSIO -read -nrFiles 4 -size 100MB
//	hammr run TestDFSIO -clean
//
// Its files are below the directory that the property test.build.data names, by default
// /benchmarks/TestDFSIO:
//
//	io_control   what each map is to do: name and size of a file
//	io_data      the files
//	io_write     output of the job that wrote them
//	io_read      output of the job that read them
package testdfsio

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/hammr/hammr/mr"
)

// Config is the configuration of the maps. The name and size of a map's file are in the map's
// record instead.
type Config struct {
	Data       string // full name of the directory of the files
	BufferSize int    // bytes written or read at once
}

// Write and Read are the jobs. They differ in how a map moves its file.
var (
	Write = newJob("TestDFSIO-write", write)
	Read  = newJob("TestDFSIO-read", read)
)

// newJob makes a job for one direction. Its reduce adds up the sums by name. Sums of floats
// depend on the order of the maps, which is of no importance for a measurement.
func newJob(name string, move transfer) *mr.Job[string, float64, string, float64] {
	job := mr.New(name,
		mr.KeyValueText(),
		measured(move),
		mr.Sum[string, float64](),
		mr.TextOutput[string, float64](),
	)
	return mr.WithConfig(job, Config{BufferSize: defaultBuffer})
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "TestDFSIO",
		Summary: "A map/reduce benchmark of writing and reading files.",
		Usage: "-write | -read | -clean [-nrFiles <files, default 1>] [-size <of each file, as 10MB; default 1MB>]" +
			" [-resFile <log, default " + defaultLog + ">] [-bufferSize <bytes, default 1000000>]",
		Jobs: []mr.Runnable{Write, Read},
		Run:  run,
	}
}

// run performs one test. The time that it prints at the end is for the whole job, with the
// start of its tasks; the rates are for the transfers alone.
func run(ctx context.Context, d *mr.Driver) error {
	o, err := parseOptions(d.Args)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, d, o)
	if err != nil {
		return err
	}
	if o.test == testClean {
		return b.clean(ctx)
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	began := time.Now()
	sums, err := b.measure(ctx)
	if err != nil {
		return err
	}
	return report(d.Stdout, o.log, sums.lines(o.test, time.Now(), time.Since(began)))
}

// report prints the lines and appends them to the log, a local file, so that results of
// several runs can be compared later.
func report(stdout io.Writer, log, lines string) error {
	if _, err := io.WriteString(stdout, lines); err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of the results, see -resFile: %w", err)
	}
	if _, err := io.WriteString(f, lines); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
