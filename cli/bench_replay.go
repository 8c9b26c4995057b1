package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
)

// ownCluster is the value of --cluster if the flag has none or is absent: the command starts
// a cluster itself. The user names a directory "own" as ./own.
const ownCluster = "own"

// benchReplay has the flags of `hammr bench replay`, and the values that prepare derives
// from them. Replay.Load is the workload. The policy "" means the current policy of the
// cluster.
type benchReplay struct {
	// The workload to load, as in `sim run`.
	source   simWorkload
	policies []string
	conf     settings
	// Directory of a cluster, or ownCluster.
	cluster string
	out     string
	// Fraction of the bytes of a SWIM trace to use; 0 means the ratio of the numbers of
	// machines.
	scale float64
	jobs  int
	data  bool
	bed   testbed
	live.Replay
}

// newBenchReplay submits jobs to a cluster of this machine. It starts one cluster for each
// policy, or uses the cluster of --cluster=DIR and leaves that running.
func newBenchReplay() *cobra.Command {
	b := benchReplay{conf: make(settings)}
	cmd := &cobra.Command{
		Use:   "replay --swim FILE --cluster[=DIR]|--hostfile FILE --out DIR",
		Short: "Run a workload on a real cluster, at the times of its trace",
		Long: `Run a workload on a real cluster of this machine: jobs are submitted when the
trace says, and jobs.csv gets a line for each, as from 'hammr sim run'. With
--cluster=DIR it uses the cluster that 'hammr up' has started in DIR. With
--cluster alone it starts a cluster for each policy, and stops it at the end;
with --hostfile it does so on the machines of a hostfile, the first of which has
the master, and --nodes others the tasknodes.

Tasks sleep, so that jobs compete for slots and not for the cores of this
machine. All tasks of a phase of a job sleep for the mean of the times that the
workload has for them, or that the model computes (--map-time and others). With
--data the bytes are real: input is generated first, and jobs shuffle and write
as many bytes as in the workload.

--scale is the fraction of a SWIM trace's bytes that jobs read; --speed divides
the times of arrivals and of tasks. Times in jobs.csv are those of the workload.

DIR, which must not exist, gets jobs.csv, environment.json with what it was run
on, and raw, the histories of the jobs and the logs of the daemons.`,
		Example: `  hammr bench replay --swim day.tsv --scale 0.001 --jobs 50 --cluster --out day
  hammr bench replay --workload spec:fb2009 --speed 20 --cluster --out both`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return b.run(ctx, cmd.Flags().Changed("scale"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	b.source.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&b.cluster, "cluster", "", "`directory` of a running cluster; without a value, start a cluster for each policy")
	flags.Lookup("cluster").NoOptDefVal = ownCluster
	outFlag(cmd, &b.out)
	flags.StringSliceVar(&b.policies, "policy", nil, "`names` of policies, one run each (default the policy of the cluster)")
	flags.Var(b.conf, "conf", "a setting of the policies; repeat the flag for more")
	flags.IntVar(&b.Tasknodes, "nodes", 4, "`number` of tasknodes")
	flags.IntVar(&b.MapSlots, "map-slots", 2, "`number` of map slots of a tasknode")
	flags.IntVar(&b.ReduceSlots, "reduce-slots", 1, "`number` of reduce slots of a tasknode")
	flags.Float64Var(&b.scale, "scale", 0, "`fraction` of the bytes of a SWIM trace, up to 1 (default --nodes divided by --swim-nodes)")
	flags.Float64Var(&b.Speedup, "speed", 1, "`factor` by which time passes faster than in the workload")
	flags.IntVar(&b.jobs, "jobs", 0, "`number` of jobs from the beginning of the workload (default all)")
	flags.BoolVar(&b.data, "data", false, "read, shuffle and write the bytes of the workload, instead of sleeping")
	b.bed.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("cluster", "hostfile")
	cmd.MarkFlagsOneRequired("cluster", "hostfile")
	cmd.MarkFlagsMutuallyExclusive("scale", "swim-nodes")
	completes(cmd, "policy", registry.Names())
	return cmd
}

// run writes the results into a directory with a temporary name. It renames the directory at
// the end, so a run that fails leaves none.
func (b *benchReplay) run(ctx context.Context, scaled bool, stdout, stderr io.Writer) error {
	if err := b.prepare(scaled); err != nil {
		return usageError{err}
	}
	if b.bed.plan {
		return b.bed.printPlan(stdout, b.describe())
	}
	dir, err := results.Stage(b.out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	var played []results.PolicyRun
	err = runOnTestbed(ctx, "replay", &b.bed, stdout, stderr, func(e experiment) (err error) {
		played, err = b.play(ctx, e, dir.Path())
		return err
	})
	if err != nil {
		return err
	}
	if err := dir.WriteFile("jobs.csv", func(w io.Writer) error { return results.WriteJobs(w, played) }); err != nil {
		return err
	}
	if err := dir.Commit(); err != nil {
		return err
	}
	return results.WriteSummary(stdout, played)
}

// prepare checks the command line and loads the workload, so that mistakes show before a
// cluster starts. scaled reports that the user has given --scale; its default follows from
// the numbers of machines.
func (b *benchReplay) prepare(scaled bool) (err error) {
	if err := results.CheckNew(b.out); err != nil {
		return err
	}
	switch {
	case b.Tasknodes < 1 || b.Tasknodes > 1000 || b.MapSlots < 1 || b.ReduceSlots < 1:
		return fmt.Errorf("--nodes %d --map-slots %d --reduce-slots %d: expected at least 1 of each", b.Tasknodes, b.MapSlots, b.ReduceSlots)
	case !(b.Speedup > 0 && b.Speedup <= 1e6):
		return fmt.Errorf("--speed %g: expected a number above 0, up to a million", b.Speedup)
	case b.jobs < 0:
		return fmt.Errorf("--jobs %d: expected 1 or more, or 0 for all", b.jobs)
	case scaled && !(b.scale > 0 && b.scale <= 1):
		return fmt.Errorf("--scale %g: expected a number above 0, up to 1", b.scale)
	// Only SWIM traces are scaled: other workloads have the times of their own cluster.
	case scaled && b.source.swim == "":
		return errors.New("--scale: expected --swim, which names the trace to scale")
	case scaled:
		b.source.tracedMachines = int(math.Round(min(float64(b.Tasknodes)/b.scale, 1e9)))
	}
	if err := errors.Join(b.source.check(), b.checkPolicies(), b.bed.check()); err != nil {
		return err
	}
	b.Load, err = b.source.load(b.Tasknodes, 1)
	if err == nil && b.jobs > 0 {
		b.Load.Jobs = b.Load.Jobs[:min(b.jobs, len(b.Load.Jobs))]
	}
	return err
}

// describe says what runs, and for how long at least: until the last job is submitted.
func (b *benchReplay) describe() string {
	maps, reduces := b.Load.Tasks()
	last := time.Duration(0)
	for i := range b.Load.Jobs {
		last = max(last, time.Duration(float64(b.Load.Jobs[i].Submit)/b.Speedup*float64(time.Millisecond)))
	}
	return fmt.Sprintf("%s, %d jobs with %d maps and %d reduces, once for each of %d policies on %d tasknodes: the last job is submitted %v after the first",
		b.Load.Name, len(b.Load.Jobs), maps, reduces, len(b.policies), b.Tasknodes, last.Round(time.Second))
}

// checkPolicies makes each policy once, so that an unknown name or setting is reported
// before the first cluster starts. If the user names no policy, it selects the cluster's
// current policy.
func (b *benchReplay) checkPolicies() error {
	if len(b.policies) == 0 {
		b.policies = []string{""}
		return nil
	}
	if err := readAllocations(b.conf); err != nil {
		return err
	}
	for _, name := range b.policies {
		if _, err := masterd.NewPolicy(name, b.conf); err != nil {
			return err
		}
	}
	return nil
}

// play runs the workload under each policy, and keeps raw results in dir.
func (b *benchReplay) play(ctx context.Context, e experiment, dir string) (played []results.PolicyRun, err error) {
	if err := e.writeEnvironment(dir, b.configuration()); err != nil {
		return nil, err
	}
	for i, policy := range b.policies {
		r, label := b.Replay, cmp.Or(policy, "its-own")
		r.Hammr, r.Policy, r.Conf, r.Pools = e.Hammr, policy, b.conf, poolsIn(b.Load)
		r.Dir, r.Keep = filepath.Join(e.Work, "cluster"), filepath.Join(dir, "raw", fmt.Sprintf("%d-%s", i+1, label))
		if r.Testbed = e.Testbed; r.Testbed == nil && b.cluster != ownCluster {
			r.Attach = b.cluster
		}
		if b.data {
			r.Data = filepath.Join(e.Work, fmt.Sprint("data", i))
		}
		e.Logf("%s %s: %d jobs", b.Load.Name, label, len(b.Load.Jobs))
		result, err := r.Run(ctx)
		if err != nil {
			return nil, err
		}
		played = append(played, result)
	}
	return played, nil
}

// configuration returns the settings of a run, for environment.json.
func (b *benchReplay) configuration() map[string]string {
	maps, reduces := b.Load.Tasks()
	return map[string]string{
		"workload": b.Load.Name, "jobs": fmt.Sprint(len(b.Load.Jobs)), "maps": fmt.Sprint(maps), "reduces": fmt.Sprint(reduces),
		"nodes": fmt.Sprint(b.Tasknodes), "map slots": fmt.Sprint(b.MapSlots), "reduce slots": fmt.Sprint(b.ReduceSlots),
		"speed": fmt.Sprint(b.Speedup), "scale": fmt.Sprint(b.scale), "cluster": b.cluster, "data": fmt.Sprint(b.data),
	}
}

// poolsIn returns the pools of the jobs of a workload. A cluster that the command starts
// must accept jobs in them. The pool default always exists.
func poolsIn(w *workload.Workload) (names []string) {
	seen := map[string]bool{"": true, "default": true}
	for i := range w.Jobs {
		if name := w.Jobs[i].Pool; !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	return names
}
