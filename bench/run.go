package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// hammrSource is the source of Hammr and its programs, where a benchmark runs.
var hammrSource = source{".", []string{"./cmd/hammr", "./bench/program/..."}}

// Run runs the comparisons with the yardstick and GNU sort. The yardstick is a
// program outside of this repository, so its source must exist.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.EnsureDefaults(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(cfg.Yardstick, "go.mod")); err != nil {
		return fmt.Errorf("source of the yardstick: %w; set YARDSTICK_DIR", err)
	}
	_, err := runContests(ctx, &cfg, contests(), hammrSource, source{cfg.Yardstick, []string{"./..."}})
	return err
}

// runContests runs the chosen contests, prints their table and writes the report. sources have
// the programs that the contests run. Different outputs are an error; a missed goal is not. It
// completes the configuration, and returns the report also if some contests have failed.
//
//	build programs ─► for each contest: input ─► prepare ─► rehearsal, compare ─► rounds ─► result
//	                                                                              ours, rival
//	                                                                              rival, ours …
func runContests(ctx context.Context, cfg *Config, all []Contest, sources ...source) (Report, error) {
	report := Report{Version: 1, Time: time.Now(), Machine: ThisMachine()}
	if err := cfg.EnsureDefaults(); err != nil {
		return report, err
	}
	if err := cfg.Validate(); err != nil {
		return report, err
	}
	chosen, err := choose(all, cfg.Cases)
	if err != nil {
		return report, err
	}
	printMachine(cfg.Out, report.Machine)
	k, err := newKit(ctx, *cfg, sources)
	if err != nil {
		return report, err
	}
	var faults []error
	for _, c := range chosen {
		if ctx.Err() != nil {
			faults = append(faults, ctx.Err())
			break
		}
		r, err := k.runContest(ctx, c)
		if err != nil {
			fmt.Fprintf(cfg.Out, "%s: FAILED: %v\n", c.Name, err)
			faults = append(faults, fmt.Errorf("case %s failed", c.Name))
			continue
		}
		report.Results = append(report.Results, r)
	}
	printResults(cfg.Out, report.Results)
	faults = append(faults, k.close())
	if len(report.Results) > 0 {
		name, err := report.write(cfg.Results)
		fmt.Fprintln(cfg.Out, "results in", name)
		faults = append(faults, err)
	}
	return report, errors.Join(faults...)
}

// List prints the names of all contests with the yardstick and GNU sort.
func List(w io.Writer) {
	for _, c := range contests() {
		mark := ""
		if c.OnlyByName {
			mark = " (only when named)"
		}
		fmt.Fprintf(w, "%-20s %s%s\n", c.Name, c.About, mark)
	}
}

// runContest runs one contest. A contest that fails does not stop the others.
func (k *Kit) runContest(ctx context.Context, c Contest) (r Result, err error) {
	if err := c.Input.ensure(ctx, k); err != nil {
		return r, err
	}
	if c.Prepare != nil {
		cleanup, err := c.Prepare(ctx, k)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, cleanup()) }()
	}
	bytes, err := c.Input.warm(k)
	if err != nil {
		return r, err
	}
	if err := k.checkOutputs(ctx, c); err != nil {
		return r, err
	}
	ours, rival, err := k.alternate(ctx, c)
	if err != nil {
		return r, err
	}
	return resultOf(c, bytes, ours, rival), nil
}

// checkOutputs runs both sides once and compares their outputs.
func (k *Kit) checkOutputs(ctx context.Context, c Contest) (err error) {
	fmt.Fprintf(k.cfg.Out, "%s: rehearsal\n", c.Name)
	ours, rival := k.output("ours"), k.output("rival")
	defer func() { err = errors.Join(err, k.remove(ctx, c, ours), os.RemoveAll(rival)) }()
	if _, err := k.measure(ctx, c.Ours.Command(k, c.Input.path(k), ours)); err != nil {
		return err
	}
	if c.Rival.missing() || c.Compare == nil {
		return nil
	}
	if _, err := k.measure(ctx, c.Rival.Command(k, c.Input.path(k), rival)); err != nil {
		return err
	}
	if c.OutputOnHDFS {
		if err := k.fs(ctx, "-get", k.onHDFS(ours), ours); err != nil {
			return err
		}
	}
	return c.Compare(ours, rival)
}

// alternate measures both sides in turn; the first of a round alternates. Alternation
// spreads slow phases of the machine over both sides.
func (k *Kit) alternate(ctx context.Context, c Contest) (ours, rival []Sample, err error) {
	for round := range k.cfg.Rounds {
		turns := []struct {
			entry   Entry
			samples *[]Sample
		}{{c.Ours, &ours}, {c.Rival, &rival}}
		// The rival is first in every other round.
		if round%2 == 1 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, turn := range turns {
			if turn.entry.missing() {
				continue
			}
			s, err := k.turn(ctx, c, turn.entry)
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(k.cfg.Out, "%s: round %d of %d: %s %.3f s\n", c.Name, round+1, k.cfg.Rounds, turn.entry.Name, s.Seconds)
			*turn.samples = append(*turn.samples, s)
		}
	}
	return ours, rival, nil
}

// turn measures one entry once, after a warm-up. The warm-up
// fills caches that the other side's run may have emptied.
func (k *Kit) turn(ctx context.Context, c Contest, e Entry) (Sample, error) {
	if !k.cfg.Cold {
		if _, err := k.run(ctx, c, e); err != nil {
			return Sample{}, err
		}
	}
	return k.run(ctx, c, e)
}

// run measures one run of an entry and removes its output. The cost of daemons is measured
// from the start to the end of the command.
func (k *Kit) run(ctx context.Context, c Contest, e Entry) (Sample, error) {
	out := k.output("out")
	usage := func() (*Usage, error) { return nil, nil }
	if k.daemons != nil {
		usage = k.daemons.measureUsage()
	}
	s, err := k.measure(ctx, e.Command(k, c.Input.path(k), out))
	if err == nil {
		s.Cluster, err = usage()
	}
	return s, errors.Join(err, k.remove(ctx, c, out))
}

// output returns the path of an output. Nothing exists there before a run.
func (k *Kit) output(name string) string { return filepath.Join(k.work, name) }
