package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// venv is the virtual environment of the rivals, beside the inputs.
func (c *Config) venv() string { return filepath.Join(c.Dir, "rivals-venv") }

// RunRivals compares the chosen workloads with the chosen rivals. Rivals that are not installed, and
// workloads that a rival cannot do, are skipped with a message. It runs in the root of Hammr's
// source.
func RunRivals(ctx context.Context, cfg Config) error {
	if err := cfg.EnsureDefaults(); err != nil {
		return err
	}
	chosen, err := matching("case", workloads(cfg.Seed), func(w workload) string { return w.Name }, cfg.Cases)
	rivals, unknown := matching("rival", allRivals(), func(r rival) string { return r.Name }, cfg.Rivals)
	if err := errors.Join(err, unknown); err != nil {
		return err
	}
	var installed error
	if cfg.Install {
		installed = install(ctx, cfg.venv(), rivals, cfg.Out)
	}
	contests := cfg.rivalContests(ctx, chosen, rivals)
	if len(contests) == 0 {
		return installed
	}
	cfg.Cases = nil
	_, err = runContests(ctx, &cfg, contests, hammrSource)
	return errors.Join(installed, err)
}

// rivalContests returns the contests of the workloads with all rivals that can run, workload by
// workload. It prints a line for each rival that cannot, and for each workload that a rival cannot do.
func (c *Config) rivalContests(ctx context.Context, chosen []workload, rivals []rival) (contests []Contest) {
	rivals = slices.DeleteFunc(slices.Clone(rivals), func(r rival) bool {
		why := r.missing(ctx, c.venv())
		if why != "" {
			fmt.Fprintf(c.Out, "%s: skipped: %s\n", r.Name, why)
		}
		return why != ""
	})
	for _, w := range chosen {
		for _, r := range rivals {
			if why := r.cannot(w); why != "" {
				fmt.Fprintf(c.Out, "%s-%s: skipped: %s\n", w.Name, r.Name, why)
				continue
			}
			contests = append(contests, r.contest(w, c.venv()))
		}
	}
	return contests
}

// contest returns the contest of a workload with the rival. Its name is also the case in results.
func (r rival) contest(w workload, venv string) Contest {
	compare := w.Compare
	if r.Package == "" {
		compare = w.ComparePipe
	}
	return Contest{
		Name: w.Name + "-" + r.Name, About: w.About, Input: w.Input, Compare: compare, Prepare: makeTemporary,
		Ours: Entry{Name: "hammr", Command: w.Ours}, Rival: r.entry(w, venv),
	}
}

// makeTemporary makes the directory for the rivals' spills, and removes it after the contest.
func makeTemporary(_ context.Context, k *Kit) (cleanup func() error, err error) {
	dir := temporary(k)
	return func() error { return os.RemoveAll(dir) }, os.Mkdir(dir, 0o755)
}

// ListRivals prints the names of workloads and rivals.
func ListRivals(w io.Writer) {
	for _, workload := range workloads(1) {
		fmt.Fprintf(w, "%-14s %s\n", workload.Name, workload.About)
	}
	fmt.Fprint(w, "\nRivals:")
	for _, r := range allRivals() {
		fmt.Fprintf(w, " %s", r.Name)
	}
	fmt.Fprintln(w)
}
