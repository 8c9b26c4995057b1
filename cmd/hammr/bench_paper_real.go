package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/minihdfs"
)

// trialsDir has the saved trials of an experiment on a real cluster.
const trialsDir = "trials"

// runReal runs the experiments on real clusters of this machine, one trial at a
// time, and the same trials in the simulator.
func (b *benchPaper) runReal(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err := b.look(ctx); err != nil {
		return err
	}
	if rig.Isolated() {
		err = rig.EnterIsolation()
	} else if b.needsNetworks() {
		return runIsolated(ctx, stdout, stderr)
	}
	if err != nil {
		return err
	}
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
	environment := live.EnvironmentOf(scratch, b.scales())
	if err := environment.Write(b.out); err != nil {
		return err
	}
	b.Skip, b.Controls, b.Short = b.leave, true, b.Short || b.name == "hfsp" // 100 machines do not fit on this one
	b.ReadsBlocks = b.reads
	report, err := paper.Run(ctx, b.name, b.Options, live.Simulated{Paper: b.name})
	if err != nil {
		return err
	}
	b.Workers = 1
	runner := &live.Runner{
		Paper: b.name, Hammr: self, Work: scratch, Keep: filepath.Join(b.out, trialsDir),
		Logf: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) },
	}
	report.Real, err = paper.Run(ctx, b.name, b.Options, runner)
	err = errors.Join(err, runner.Close())
	if err != nil {
		return err
	}
	report.Command, report.Versions = b.command(), ownVersion()
	report.Real.Command, report.Real.Versions = report.Command, report.Versions
	report.Environment = live.About + "\n" + environment.Markdown() + b.notes(report)
	if err := report.Write(b.out); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "seeds from %d; %s\n\n", b.Seed, filepath.Join(b.out, "report.md"))
	return report.WriteTable(stdout)
}

// leave is why an experiment is not run, "" if it is.
func (b *benchPaper) leave(e *paper.Experiment) string {
	if b.only != "" && e.ID != b.only {
		return "it was not asked for"
	}
	s, whyNot := live.ScaleOf(b.name, e)
	switch {
	case whyNot != "":
		return whyNot
	case s.Input && b.lacks.hdfs != nil:
		return b.lacks.hdfs.Error()
	case s.Link > 0 && b.lacks.networks != nil:
		return b.lacks.networks.Error()
	}
	return ""
}

// reads reports whether the jobs of an experiment read blocks.
func (b *benchPaper) reads(e *paper.Experiment) bool {
	s, _ := live.ScaleOf(b.name, e)
	return s.Input
}

// lacks are the reasons why this machine cannot run some experiments; nil if it can.
type lacks struct {
	hdfs     error
	networks error // of machines
}

// look finds out what this machine lacks for the wanted experiments. It fetches HDFS's jars
// before the command enters namespaces without a network. It fails if the one wanted
// experiment cannot be run.
func (b *benchPaper) look(ctx context.Context) error {
	for _, e := range b.wanted() {
		s, _ := live.ScaleOf(b.name, &e)
		if s.Input && b.lacks.hdfs == nil {
			b.lacks.hdfs = minihdfs.CheckAvailable(ctx)
		}
		if s.Link > 0 && !rig.Isolated() && b.lacks.networks == nil {
			b.lacks.networks = rig.CanIsolate()
		}
		if why := b.leave(&e); b.only != "" && why != "" {
			return fmt.Errorf("experiment %s of %s: %s", e.ID, b.name, why)
		}
	}
	return ctx.Err()
}

// needsNetworks reports whether a wanted experiment gives each machine its own network.
func (b *benchPaper) needsNetworks() bool {
	return slices.ContainsFunc(b.wanted(), func(e paper.Experiment) bool {
		s, _ := live.ScaleOf(b.name, &e)
		return s.Link > 0 && b.leave(&e) == ""
	})
}

// wanted are the requested experiments that real clusters can run.
func (b *benchPaper) wanted() []paper.Experiment {
	return slices.DeleteFunc(b.plan(), func(e paper.Experiment) bool {
		_, whyNot := live.ScaleOf(b.name, &e)
		return whyNot != "" || b.only != "" && e.ID != b.only
	})
}

// plan are all experiments of the paper.
func (b *benchPaper) plan() []paper.Experiment {
	p, err := paper.Find(b.name)
	if err != nil {
		return nil // prepare has reported the error
	}
	options := b.Options
	options.Controls = true
	plan, err := p.Plan(options)
	if err != nil {
		return nil // Run reports the error
	}
	return plan
}

// checkOnly refuses a name that is unknown, or is run in the simulator only.
func (b *benchPaper) checkOnly() error {
	var names []string
	for _, e := range b.plan() {
		_, whyNot := live.ScaleOf(b.name, &e)
		switch {
		case e.ID == b.only && whyNot == "":
			return nil
		case e.ID == b.only:
			return fmt.Errorf("--only %s: it is not run on a real cluster: %s", b.only, whyNot)
		case whyNot == "":
			names = append(names, e.ID)
		}
	}
	return fmt.Errorf("--only %s: not one of %s", b.only, strings.Join(names, ", "))
}

// scales are the scales of the experiments, by their names.
func (b *benchPaper) scales() map[string]string {
	plan := b.plan()
	list := make(map[string]string)
	for i := range plan {
		if s, whyNot := live.ScaleOf(b.name, &plan[i]); whyNot == "" {
			list[plan[i].ID] = s.String()
		}
	}
	return list
}

// notes lists the scales of the experiments that were run.
func (b *benchPaper) notes(r *paper.Report) (text string) {
	for i := range r.Sections {
		s, _ := live.ScaleOf(b.name, r.Sections[i].Experiment)
		text += fmt.Sprintf("- %s: %v\n", r.Sections[i].Experiment.ID, s)
	}
	return text
}

// resumable reports whether an existing directory has trials of an experiment on a real
// cluster, which can resume.
func resumable(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, trialsDir))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
