package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/chaos/rig"
)

// trialsDir has the saved trials of an experiment on a real cluster.
const trialsDir = "trials"

// runReal runs the experiments on real clusters of this machine, one trial at a time, and
// the same trials in the simulator. Experiments that give each machine its own network run
// in their own namespaces; jars of HDFS are downloaded before the namespaces start.
func (b *benchPaper) runReal(ctx context.Context, stdout, stderr io.Writer) error {
	canIsolate := rig.CanIsolate
	if rig.Isolated() {
		canIsolate = func() error { return nil }
	}
	if err := b.selection.Probe(ctx, canIsolate); err != nil {
		return err
	}
	return inNamespaces(ctx, b.selection.NeedsNetworks, stdout, stderr, func() error {
		return runExperiment("paper", stdout, stderr, func(e experiment) error { return b.compare(ctx, e) })
	})
}

// compare runs the simulator first, because it is fast and finds mistakes in the plan.
func (b *benchPaper) compare(ctx context.Context, e experiment) error {
	if err := os.MkdirAll(filepath.Join(b.out, trialsDir), 0o777); err != nil {
		return err
	}
	environment := live.EnvironmentOf(e.Work, b.selection.Scales())
	if err := environment.Write(b.out); err != nil {
		return err
	}
	b.Skip, b.ReadsBlocks, b.Controls = b.selection.WhyNot, b.selection.ReadsBlocks, true
	b.Short = b.Short || b.name == "hfsp" // this machine cannot run clusters of 100 tasknodes
	report, err := paper.Run(ctx, b.name, b.Options, live.Simulated{Paper: b.name})
	if err != nil {
		return err
	}
	// Real trials run one after the other: two clusters would compete for the cores.
	b.Workers = 1
	runner := &live.Runner{Paper: b.name, Hammr: e.Hammr, Work: e.Work, Keep: filepath.Join(b.out, trialsDir), Logf: e.Logf}
	report.Real, err = paper.Run(ctx, b.name, b.Options, runner)
	if err = errors.Join(err, runner.Close()); err != nil {
		return err
	}
	report.Real.Command, report.Real.Versions = b.command(), ownVersion()
	report.Environment = live.About + "\n" + environment.Markdown() + b.selection.Notes(report)
	return b.save(report, e.stdout)
}
