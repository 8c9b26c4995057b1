package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/bench/real"
)

// trialsDir has what came of the trials of an experiment on a real cluster.
const trialsDir = "trials"

// runReal runs the experiments on real clusters of this machine, one trial at a
// time, and the same trials in the simulator.
func (b *benchPaper) runReal(ctx context.Context, stdout, stderr io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "hammr-paper-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.MkdirAll(filepath.Join(b.out, trialsDir), 0o777); err != nil {
		return err
	}
	b.Controls = true
	environment := real.EnvironmentOf(scratch, b.scales())
	if err := environment.Write(b.out); err != nil {
		return err
	}
	b.Leave, b.Short = b.leave, b.Short || b.name == "hfsp" // 100 machines are not to be had
	b.Reads = b.reads
	report, err := paper.Run(ctx, b.name, b.Options, real.Modelled{Paper: b.name})
	if err != nil {
		return err
	}
	b.Workers = 1
	runner := &real.Runner{
		Paper: b.name, Hammr: self, Work: scratch, Keep: filepath.Join(b.out, trialsDir),
		Tell: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) },
	}
	report.Real, err = paper.Run(ctx, b.name, b.Options, runner)
	err = errors.Join(err, runner.Close())
	if err != nil {
		return err
	}
	report.Command, report.Versions = b.command(), ownVersion()
	report.Real.Command, report.Real.Versions = report.Command, report.Versions
	report.Environment = real.About + "\n" + environment.Markdown() + b.notes(report)
	if err := report.Write(b.out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "seeds from %d; %s\n\n", b.Seed, filepath.Join(b.out, "report.md"))
	return report.WriteTable(stdout)
}

// leave says why an experiment is not run.
func (b *benchPaper) leave(e *paper.Experiment) string {
	if b.only != "" && e.ID != b.only {
		return "it was not asked for"
	}
	_, whyNot := real.ScaleOf(b.name, e)
	return whyNot
}

// reads is whether the jobs of an experiment read blocks.
func (b *benchPaper) reads(e *paper.Experiment) bool {
	s, _ := real.ScaleOf(b.name, e)
	return s.Input
}

// scales are how the experiments are scaled, by their names.
func (b *benchPaper) scales() map[string]string {
	p, err := paper.Find(b.name)
	if err != nil {
		return nil // prepare has told
	}
	plan, err := p.Plan(b.Options)
	if err != nil {
		return nil // and Run tells
	}
	list := make(map[string]string)
	for i := range plan {
		if s, whyNot := real.ScaleOf(b.name, &plan[i]); whyNot == "" {
			list[plan[i].ID] = s.String()
		}
	}
	return list
}

// notes are the scales of the experiments that were run, as a list.
func (b *benchPaper) notes(r *paper.Report) (text string) {
	for i := range r.Sections {
		s, _ := real.ScaleOf(b.name, r.Sections[i].Experiment)
		text += fmt.Sprintf("- %s: %v\n", r.Sections[i].Experiment.ID, s)
	}
	return text
}

// resumable reports whether a directory that exists is that of an experiment on a
// real cluster, which goes on where it was interrupted.
func resumable(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, trialsDir))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
