package rivals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/bench"
)

// Config describes a run. The fields of bench.Config have their meaning there, except Cases.
type Config struct {
	bench.Config // its Cases are names of workloads, or patterns for path.Match
	// Rivals are names of rivals, or patterns. Default: all.
	Rivals []string
	// Seed is the seed of all inputs. Default 1.
	Seed uint64
	// Install installs the chosen rivals before the run.
	Install bool
}

// EnsureDefaults replaces zero fields by their defaults.
func (c *Config) EnsureDefaults() error {
	if len(c.Cases) == 0 {
		c.Cases = []string{"*"}
	}
	if len(c.Rivals) == 0 {
		c.Rivals = []string{"*"}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	return c.Config.EnsureDefaults()
}

// venv is the virtual environment of the rivals, beside the inputs.
func (c *Config) venv() string { return filepath.Join(c.Dir, "rivals-venv") }

// pair is a workload and a rival.
type pair struct {
	Workload
	rival Rival
}

// name is the name of the contest, which is also the case in results.
func (p pair) name() string { return p.Name + "-" + p.rival.Name }

// choose returns the chosen pairs, workload by workload. A pattern that matches nothing is an
// error.
func (c *Config) choose() (chosen []pair, rivals []Rival, err error) {
	workloads, err := bench.Choose("case", Workloads(c.Seed), func(w Workload) string { return w.Name }, c.Cases)
	rivals, unknown := bench.Choose("rival", Rivals(), func(r Rival) string { return r.Name }, c.Rivals)
	for _, w := range workloads {
		for _, r := range rivals {
			chosen = append(chosen, pair{w, r})
		}
	}
	return chosen, rivals, errors.Join(err, unknown)
}

// Run compares the chosen workloads with the chosen rivals. Rivals that are not installed, and
// workloads that a rival cannot do, are skipped with a message. It runs in the root of Hammr's
// source.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.EnsureDefaults(); err != nil {
		return err
	}
	chosen, rivals, err := cfg.choose()
	if err != nil {
		return err
	}
	var installed error
	if cfg.Install {
		installed = install(ctx, cfg.venv(), rivals, cfg.Out)
	}
	contests := cfg.contests(ctx, chosen, rivals)
	if len(contests) == 0 {
		return installed
	}
	cfg.Cases = nil
	return errors.Join(installed, bench.RunSuite(ctx, cfg.Config, suiteOf(contests)))
}

// suiteOf returns a suite with the programs that the workloads run.
func suiteOf(contests []bench.Contest) bench.Suite {
	packages := []string{"./cmd/hammr"}
	for _, name := range []string{"timed", "pairs", "index", "toppages", "sessions", "joinbroadcast", "joinshuffle"} {
		packages = append(packages, "./bench/program/"+name)
	}
	return bench.Suite{Contests: contests, Sources: []bench.Source{{Dir: ".", Packages: packages}}}
}

// contests returns the contests of all pairs whose rivals can run. It prints a line for each
// rival that cannot, and for each workload that a rival cannot do.
func (c *Config) contests(ctx context.Context, chosen []pair, rivals []Rival) (contests []bench.Contest) {
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
		if why := p.rival.cannot(p.Workload); why != "" {
			fmt.Fprintf(c.Out, "%s: skipped: %s\n", p.name(), why)
			continue
		}
		contests = append(contests, p.contest(c.venv()))
	}
	return contests
}

// contest returns the contest of a pair.
func (p pair) contest(venv string) bench.Contest {
	compare := p.Compare
	if p.rival.Package == "" {
		compare = p.ComparePipe
	}
	return bench.Contest{
		Name: p.name(), About: p.About, Input: p.Input, Compare: compare, Prepare: makeTemporary,
		Ours: bench.Entry{Name: "hammr", Command: p.Ours}, Rival: p.rival.entry(p.Workload, venv),
	}
}

// makeTemporary makes the directory for the rivals' spills, and removes it after the contest.
func makeTemporary(_ context.Context, k *bench.Kit) (cleanup func() error, err error) {
	dir := temporary(k)
	return func() error { return os.RemoveAll(dir) }, os.Mkdir(dir, 0o755)
}

// List prints the names of workloads and rivals.
func List(w io.Writer) {
	for _, workload := range Workloads(1) {
		fmt.Fprintf(w, "%-14s %s\n", workload.Name, workload.About)
	}
	fmt.Fprint(w, "\nRivals:")
	for _, r := range Rivals() {
		fmt.Fprintf(w, " %s", r.Name)
	}
	fmt.Fprintln(w)
}
