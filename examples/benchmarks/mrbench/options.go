package mrbench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hammr/hammr/examples/internal/arguments"
)

// defaultDir is the directory in which Hadoop's mrbench keeps its files.
const defaultDir = "/benchmarks/MRBench"

// The orders of the lines of the input, as in Hadoop's mrbench. The order does not change
// the cost of a small job; it exists for compatibility.
const (
	ascending  = "ascending"
	descending = "descending"
	random     = "random"
)

// options are the arguments of Hadoop's mrbench. The arguments for its JAR file have no
// meaning here and are unknown.
type options struct {
	dir     string // directory for input and output, without a slash at its end
	runs    int64  // how many times the job runs
	maps    int64  // number of maps of each run
	reduces int64
	lines   int64  // number of lines of the input
	order   string // order of the lines: ascending, descending or random
	verbose bool   // print the time of each run, too
}

// parseOptions returns the options of the command line. Options that are not given have
// Hadoop's defaults.
func parseOptions(args []string) (options, error) {
	o := options{dir: defaultDir, runs: 1, maps: 2, reduces: 1, lines: 1, order: ascending}
	err := arguments.Options{
		"-baseDir":    arguments.Value(o.setDir),
		"-inputType":  arguments.Value(o.setOrder),
		"-numRuns":    arguments.Number(&o.runs, 1),
		"-maps":       arguments.Number(&o.maps, 1),
		"-reduces":    arguments.Number(&o.reduces, 1),
		"-inputLines": arguments.Number(&o.lines, 0),
		"-verbose":    arguments.Flag(&o.verbose),
	}.ParseAll(args)
	return o, err
}

// setDir sets the directory from -baseDir, without a slash at its end: names are joined to
// it with a slash.
func (o *options) setDir(value string) error {
	if o.dir = strings.TrimRight(value, "/"); value == "" {
		return errors.New("a directory is missing")
	}
	return nil
}

// setOrder sets the order from -inputType, whose letter case does not matter in Hadoop
// either.
func (o *options) setOrder(value string) error {
	switch o.order = strings.ToLower(value); o.order {
	case ascending, descending, random:
		return nil
	}
	return fmt.Errorf("%q is none of %s, %s and %s", value, ascending, descending, random)
}

// report prints the table that Hadoop prints. With -verbose the figures of each run precede
// it.
func (o *options) report(w io.Writer, times []time.Duration) error {
	var b strings.Builder
	if o.verbose {
		fmt.Fprintf(&b, "Total MapReduce jobs executed: %d\nTotal lines of data per job: %d\nMaps per job: %d\nReduces per job: %d\n",
			o.runs, o.lines, o.maps, o.reduces)
	}
	total := int64(0)
	for i, took := range times {
		total += took.Milliseconds()
		if o.verbose {
			fmt.Fprintf(&b, "Total milliseconds for task: %d = %d\n", i+1, took.Milliseconds())
		}
	}
	fmt.Fprintf(&b, "DataLines\tMaps\tReduces\tAvgTime (milliseconds)\n%d\t\t%d\t%d\t%d\n",
		o.lines, o.maps, o.reduces, total/o.runs)
	_, err := io.WriteString(w, b.String())
	return err
}
