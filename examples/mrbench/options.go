package mrbench

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/mr"
)

// defaultDir is where Hadoop's mrbench keeps its files.
const defaultDir = "/benchmarks/MRBench"

// The orders of the lines of the input.
const (
	ascending  = "ascending"
	descending = "descending"
	random     = "random"
)

// options are the arguments.
type options struct {
	dir     string
	runs    int64
	maps    int64
	reduces int64
	lines   int64
	order   string
	verbose bool
}

func parseOptions(args []string) (options, error) {
	o := options{dir: defaultDir, runs: 1, maps: 2, reduces: 1, lines: 1, order: ascending}
	for len(args) > 0 {
		rest, err := o.take(args[0], args[1:])
		if err != nil {
			return o, fmt.Errorf("%w: option %s: %w", mr.ErrUsage, args[0], err)
		}
		args = rest
	}
	return o, nil
}

// take takes one option and its value and returns what follows.
func (o *options) take(name string, values []string) (rest []string, err error) {
	if name == "-verbose" {
		o.verbose = true
		return values, nil
	}
	set := o.setter(name)
	if set == nil {
		return nil, errors.New("not known")
	}
	if len(values) == 0 {
		return nil, errors.New("a value is missing")
	}
	return values[1:], set(values[0])
}

// setter is what takes the value of an option; nil for one that is not known.
func (o *options) setter(name string) func(value string) error {
	switch name {
	case "-baseDir":
		return o.setDir
	case "-inputType":
		return o.setOrder
	case "-numRuns":
		return numberOf(&o.runs, 1)
	case "-maps":
		return numberOf(&o.maps, 1)
	case "-reduces":
		return numberOf(&o.reduces, 1)
	case "-inputLines":
		return numberOf(&o.lines, 0)
	}
	return nil
}

func (o *options) setDir(value string) error {
	if o.dir = strings.TrimRight(value, "/"); value == "" {
		return errors.New("a directory is missing")
	}
	return nil
}

func (o *options) setOrder(value string) error {
	switch o.order = strings.ToLower(value); o.order {
	case ascending, descending, random:
		return nil
	}
	return fmt.Errorf("%q is none of %s, %s and %s", value, ascending, descending, random)
}

func numberOf(n *int64, least int64) func(value string) error {
	return func(value string) (err error) {
		if *n, err = strconv.ParseInt(value, 10, 32); err != nil || *n < least {
			return fmt.Errorf("%q is not a whole number of at least %d, or too large", value, least)
		}
		return nil
	}
}

// report prints the table that Hadoop prints.
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
