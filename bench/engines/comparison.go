package engines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/validate"
)

// Names are the names of all engines.
var Names = []string{"hammr", "hadoop", "spark"}

// Comparison is what runs. It is continued where an interrupted one has left its samples.
//
//	DIR/samples.json    each run: work, engine, seconds
//	DIR/reference/WORK  output of the first engine, until all runs have succeeded
//	DIR/compare.*       the table and the picture
type Comparison struct {
	Engines []string // of Names; the first is the one that others are compared with
	Work    []string // names of bench.SharedWork
	Runs    int      // of each work by each engine
	Rounds  int      // of pagerank and kmeans
	Size    int64    // bytes of each input
	Seed    uint64   // of the inputs

	Dir     string // of results
	Scratch string // directory of files that are not kept
	Venv    string // virtual environment of Python with Spark
	Install bool   // install Spark there
	Logf    func(format string, args ...any)
}

// Validate reports every error at once.
func (c *Comparison) Validate() error {
	var errs []error
	for _, name := range c.Engines {
		errs = append(errs, validate.That(slices.Contains(Names, name), "engine %q: not one of %s", name, strings.Join(Names, ", ")))
	}
	for _, name := range c.Work {
		errs = append(errs, validate.That(slices.Contains(WorkNames(), name), "work %q: not one of %s", name, strings.Join(WorkNames(), ", ")))
	}
	return errors.Join(append(errs,
		validate.That(c.Runs > 0 && c.Rounds > 0, "runs %d, rounds %d: expected 1 or more", c.Runs, c.Rounds),
		validate.That(c.Size >= 1<<20, "size %d: expected 1m or more", c.Size))...)
}

// WorkNames returns the names of all work.
func WorkNames() (names []string) {
	for _, w := range bench.SharedWork(1) {
		names = append(names, w.Name)
	}
	return names
}

// Sample is a run.
type Sample struct {
	Work, Engine string
	Run          int // from 1
	Seconds      float64
	Failure      string `json:",omitempty"` // why there is no result, or a wrong one
}

func (s Sample) failed() bool { return s.Failure != "" }

// Samples are the runs of a comparison.
type Samples struct {
	Size    int64
	Rounds  int
	Seed    uint64
	LeftOut []string // engines that did not start, with the reason
	Runs    []Sample
}

// SamplesFile is the file with the samples, in the directory of results.
const SamplesFile = "samples.json"

// load returns the samples of an interrupted comparison. Runs that have failed are repeated.
func (c *Comparison) load() (*Samples, error) {
	s := Samples{Size: c.Size, Rounds: c.Rounds, Seed: c.Seed}
	file := filepath.Join(c.Dir, SamplesFile)
	if err := jsonfile.Read(file, &s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.Size != c.Size || s.Rounds != c.Rounds || s.Seed != c.Seed {
		return nil, fmt.Errorf("%s has runs of %d bytes, %d rounds and seed %d; use the same, or another directory", file, s.Size, s.Rounds, s.Seed)
	}
	s.LeftOut = nil
	s.Runs = slices.DeleteFunc(s.Runs, Sample.failed)
	return &s, nil
}

// Run runs all work by all engines in turn, and saves each sample. An engine that cannot start is left out.
// A run that fails, or whose output differs, is a sample with the reason.
func (c *Comparison) Run(ctx context.Context, m *Machines) (*Samples, error) {
	s, err := c.load()
	if err != nil {
		return nil, err
	}
	engines, err := c.start(ctx, m, s)
	if err != nil {
		return s, err
	}
	for run := 1; run <= c.Runs; run++ {
		for _, w := range bench.SharedWork(c.Seed) {
			if !slices.Contains(c.Work, w.Name) {
				continue
			}
			for n := range engines {
				if err := c.sample(ctx, m, s, w, engines[(n+run-1)%len(engines)], run); err != nil {
					return s, err
				}
			}
		}
	}
	if slices.ContainsFunc(s.Runs, Sample.failed) {
		return s, nil // repeated runs read the inputs, and their outputs are compared with the reference
	}
	_, err = m.Hammr.Run(ctx, "fs", "-rm", "-r", "-f", "-skipTrash", m.Files)
	return s, errors.Join(err, os.RemoveAll(filepath.Join(c.Dir, "reference")))
}

// start returns the engines that start, with their programs in HDFS.
func (c *Comparison) start(ctx context.Context, m *Machines, s *Samples) (engines []engine, err error) {
	if _, err := m.Hammr.Run(ctx, "fs", "-mkdir", "-p", m.Files); err != nil {
		return nil, err
	}
	for _, name := range c.Engines {
		e, err := engine{"hammr", m.runHammr}, error(nil)
		switch {
		case name == "hammr":
		case m.YARN == nil:
			err = fmt.Errorf("YARN does not start: %w", m.NoYARN)
		case name == "hadoop":
			e, err = newHadoop(ctx, m)
		default:
			python, missing := bench.SparkPython(ctx, c.Venv, c.Install, logWriter(c.Logf))
			if err = missing; err == nil {
				e, err = newSpark(ctx, m, python, c.Scratch)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			s.LeftOut = append(s.LeftOut, fmt.Sprintf("%s is left out: %v", name, err))
			c.Logf("%s is left out: %v", name, err)
			continue
		}
		engines = append(engines, e)
	}
	if len(engines) == 0 {
		return nil, errors.New("no engine starts")
	}
	return engines, nil
}

// logWriter writes what is printed to it as messages.
type logWriter func(format string, args ...any)

// Write implements io.Writer.
func (w logWriter) Write(p []byte) (int, error) {
	w("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// sample runs work by an engine, unless that was done, and saves the sample.
func (c *Comparison) sample(ctx context.Context, m *Machines, s *Samples, w bench.Shared, e engine, run int) error {
	if slices.ContainsFunc(s.Runs, func(o Sample) bool { return o.Work == w.Name && o.Engine == e.name && o.Run == run }) {
		return nil
	}
	in, err := c.input(ctx, m, w)
	if err != nil {
		return fmt.Errorf("input of %s: %w", w.Name, err)
	}
	r := request{work: w.Name, in: in, out: fmt.Sprintf("%s/out-%s-%s", m.Files, w.Name, e.name), rounds: c.Rounds}
	if _, err := m.Hammr.Run(ctx, "fs", "-rm", "-r", "-f", "-skipTrash", r.out, r.out+"-*"); err != nil {
		return err
	}
	began := time.Now()
	err = e.run(ctx, &r)
	made := Sample{Work: w.Name, Engine: e.name, Run: run, Seconds: time.Since(began).Seconds()}
	if err == nil && run == 1 {
		err = c.check(ctx, m, w, r.out)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.Logf("%s by %s, run %d: %.1f s", w.Name, e.name, run, made.Seconds); err != nil {
		made.Failure = err.Error()
		c.Logf("%s by %s: %v", w.Name, e.name, err)
	}
	s.Runs = append(s.Runs, made)
	return jsonfile.Write(filepath.Join(c.Dir, SamplesFile), s, 0o666)
}

// input returns the full name of the input of work in HDFS. It is written there once.
func (c *Comparison) input(ctx context.Context, m *Machines, w bench.Shared) (uri string, err error) {
	name := fmt.Sprintf("%s-%d-%d", w.Input.Name, c.Size, c.Seed)
	uri = m.Files + "/" + name
	if _, err := m.Hammr.Run(ctx, "fs", "-test", "-e", uri); err == nil {
		return uri, nil
	}
	local := filepath.Join(c.Scratch, name)
	defer func() { err = errors.Join(err, os.RemoveAll(local)) }()
	if err := w.Input.Write(ctx, local, c.Size); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"-rm", "-r", "-f", "-skipTrash", uri + ".part"}, {"-put", local, uri + ".part"}, {"-mv", uri + ".part", uri}} {
		if _, err := m.Hammr.Run(ctx, append([]string{"fs"}, args...)...); err != nil {
			return "", err
		}
	}
	return uri, nil
}

// check compares an output with that of the engine that had the same work first.
func (c *Comparison) check(ctx context.Context, m *Machines, w bench.Shared, out string) error {
	reference := filepath.Join(c.Dir, "reference", w.Name)
	got := reference + ".part" // the reference is complete, also after an interrupt
	if err := errors.Join(os.MkdirAll(filepath.Dir(reference), 0o777), os.RemoveAll(got)); err != nil {
		return err
	}
	if _, err := m.Hammr.Run(ctx, "fs", "-get", out, got); err != nil {
		return err
	}
	if _, err := os.Stat(reference); err != nil {
		return os.Rename(got, reference)
	}
	return errors.Join(w.Compare(reference, got), os.RemoveAll(got))
}
