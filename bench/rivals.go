package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// venv is the virtual environment of the rivals, beside the inputs.
func (c *Config) venv() string { return filepath.Join(c.Dir, "rivals-venv") }

// pair is a workload and a rival.
type pair struct {
	workload
	rival rival
}

// name is the name of the contest, which is also the case in results.
func (p pair) name() string { return p.Name + "-" + p.rival.Name }

// pairs returns the chosen pairs, workload by workload, and the chosen rivals. A pattern that
// matches nothing is an error.
func (c *Config) pairs() (chosen []pair, rivals []rival, err error) {
	all, err := matching("case", workloads(c.Seed), func(w workload) string { return w.Name }, c.Cases)
	rivals, unknown := matching("rival", allRivals(), func(r rival) string { return r.Name }, c.Rivals)
	for _, w := range all {
		for _, r := range rivals {
			chosen = append(chosen, pair{w, r})
		}
	}
	return chosen, rivals, errors.Join(err, unknown)
}

// RunRivals compares the chosen workloads with the chosen rivals. Rivals that are not installed, and
// workloads that a rival cannot do, are skipped with a message. It runs in the root of Hammr's
// source.
func RunRivals(ctx context.Context, cfg Config) error {
	if err := cfg.EnsureDefaults(); err != nil {
		return err
	}
	chosen, rivals, err := cfg.pairs()
	if err != nil {
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

// rivalContests returns the contests of all pairs whose rivals can run. It prints a line for each
// rival that cannot, and for each workload that a rival cannot do.
func (c *Config) rivalContests(ctx context.Context, chosen []pair, rivals []rival) (contests []Contest) {
	missing := make(map[string]bool)
	for _, r := range rivals {
		if why := r.missing(ctx, c.venv()); why != "" {
			missing[r.Name] = true
			fmt.Fprintf(c.Out, "%s: skipped: %s\n", r.Name, why)
		}
	}
	for _, p := range chosen {
		if missing[p.rival.Name] {
			continue
		}
		if why := p.rival.cannot(p.workload); why != "" {
			fmt.Fprintf(c.Out, "%s: skipped: %s\n", p.name(), why)
			continue
		}
		contests = append(contests, p.contest(c.venv()))
	}
	return contests
}

// contest returns the contest of a pair.
func (p pair) contest(venv string) Contest {
	compare := p.Compare
	if p.rival.Package == "" {
		compare = p.ComparePipe
	}
	return Contest{
		Name: p.name(), About: p.About, Input: p.Input, Compare: compare, Prepare: makeTemporary,
		Ours: Entry{Name: "hammr", Command: p.Ours}, Rival: p.rival.entry(p.workload, venv),
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
