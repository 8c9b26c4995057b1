package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// simCluster holds the flags of the simulated cluster and of its policies, for `sim run` and
// `sim whatif`. configure computes cfg and preemption from the flags; before that these have
// only the values that flags write directly.
type simCluster struct {
	// Names, in the order of the runs.
	policies []string
	// Another policy that --conf may name; "" for none.
	baseline string
	// Properties of --conf, by policy.
	conf policyConf
	// File of --allocations; "" for none.
	allocations string
	// Names of preemption modes; a property of a policy overrides them.
	mapMode, reduceMode string
	// Sigma of the lognormal errors of sizes; 0 for no errors.
	sizeError float64
	// Failures of machines as the user typed them; parseFailure parses them.
	fail                    []string
	reportInterval, latency time.Duration
	expiry                  time.Duration
	quiet                   bool

	// configure sets these from the flags above. cfg has the numbers of machines and slots
	// from the start, because their flags write to it directly.
	preemption preempt.Config
	cfg        sim.Config
}

// addFlags defines the flags of the cluster.
func (c *simCluster) addFlags(cmd *cobra.Command) {
	modes := "`mode`: " + preempt.Names(preempt.Modes)
	c.conf = make(policyConf)
	flags := cmd.Flags()
	flags.StringSliceVar(&c.policies, "policy", []string{"fifo"}, "`names` of policies: "+strings.Join(registry.Names(), ", "))
	flags.Var(c.conf, "conf", "a property of the policies; POLICY:NAME=VALUE sets it for one; repeat the flag for more")
	flags.StringVar(&c.allocations, "allocations", "", "Hadoop's allocation `file`, for policies with pools")
	flags.StringVar(&c.mapMode, "map-preemption", string(preempt.Auto), "preemption "+modes+", of maps")
	flags.StringVar(&c.reduceMode, "reduce-preemption", string(preempt.Auto), "preemption "+modes+", of reduces")
	flags.Float64Var(&c.sizeError, "size-error", 0, "lognormal `sigma` of the errors of estimated job sizes")
	flags.IntVar(&c.cfg.Machines, "nodes", 0, "`number` of machines")
	flags.IntVar(&c.cfg.MapSlots, "map-slots", 4, "`number` of map slots of a machine")
	flags.IntVar(&c.cfg.ReduceSlots, "reduce-slots", 2, "`number` of reduce slots of a machine")
	flags.Int64Var(&c.cfg.MemoryMB, "memory-mb", 0, "`MiB` of memory that the tasks of a machine may take together; 0 is any amount")
	flags.IntVar(&c.cfg.Racks, "racks", 1, "`number` of racks")
	flags.IntVar(&c.cfg.Replication, "replication", 3, "`copies` of each block of input")
	flags.Uint64Var(&c.cfg.Seed, "seed", 1, "`number` that seeds all random choices")
	flags.DurationVar(&c.reportInterval, "report-interval", 0, "`time` between two reports of a machine; 0 sends every report at once")
	flags.DurationVar(&c.latency, "latency", 5*time.Millisecond, "`time` that a message takes")
	flags.DurationVar(&c.expiry, "expiry", 10*time.Second, "`silence` after which a machine is lost")
	flags.StringSliceVar(&c.fail, "fail", nil, "machine failures: `NODE@TIME` or NODE@JOB:PHASE:PERCENT, where the first node is n0001; +TIME ends the failure")
	flags.BoolVar(&c.quiet, "quiet", false, "show no progress bar")
	completes(cmd, "policy", registry.Names())
	completes(cmd, "map-preemption", strings.Split(preempt.Names(preempt.Modes), ", "))
	completes(cmd, "reduce-preemption", strings.Split(preempt.Names(preempt.Modes), ", "))
}

// configure turns the flags into a configuration. It reports every error that does not
// depend on the workload. Times become ms of virtual time. The policies expect that the
// master learns of a free slot after one interval of reports.
func (c *simCluster) configure() error {
	errs := []error{c.checkNumbers(), c.checkPolicies()}
	for _, text := range c.fail {
		f, err := parseFailure(text)
		c.cfg.Failures, errs = append(c.cfg.Failures, f), append(errs, err)
	}
	var err error
	if c.preemption.Map, err = preempt.Parse(c.mapMode); err != nil {
		errs = append(errs, fmt.Errorf("--map-preemption: %w", err))
	}
	if c.preemption.Reduce, err = preempt.Parse(c.reduceMode); err != nil {
		errs = append(errs, fmt.Errorf("--reduce-preemption: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.cfg.ReportInterval, c.cfg.Latency, c.cfg.Expiry = c.reportInterval.Milliseconds(), c.latency.Milliseconds(), c.expiry.Milliseconds()
	// The master learns of a free slot with the next report.
	c.preemption.SlotFreeLatency = c.cfg.ReportInterval // 0 is the default
	c.cfg.Costs = c.preemption.Costs
	noneIfZero(&c.cfg.MapSlots)
	noneIfZero(&c.cfg.ReduceSlots)
	noneIfZero(&c.cfg.Latency)
	return c.cfg.Validate()
}

// noneIfZero replaces a user's 0 by the value that means none, because sim takes 0 as its
// default.
func noneIfZero[T int | int64](n *T) {
	if *n == 0 {
		*n = -1
	}
}

// These limits exist because each machine and slot of a cluster takes memory.
const (
	maxMachines = 1_000_000
	maxSlots    = 10_000 // slots of each kind on a machine
)

// checkNumbers reports numbers out of range in terms of the flags.
func (c *simCluster) checkNumbers() error {
	var errs []error
	for _, n := range []struct {
		flag               string
		value, least, most int64
	}{
		{"nodes", int64(c.cfg.Machines), 1, maxMachines}, {"map-slots", int64(c.cfg.MapSlots), 0, maxSlots},
		{"reduce-slots", int64(c.cfg.ReduceSlots), 0, maxSlots}, {"memory-mb", c.cfg.MemoryMB, 0, workload.MaxMemoryMB},
	} {
		errs = append(errs, validate.That(n.value >= n.least && n.value <= n.most, "--%s %d: expected %d to %d", n.flag, n.value, n.least, n.most))
	}
	return errors.Join(append(errs,
		validate.That(c.cfg.Racks >= 1 && c.cfg.Replication >= 1, "--racks %d --replication %d: expected at least 1 of each", c.cfg.Racks, c.cfg.Replication),
		validate.That(c.reportInterval == 0 || c.reportInterval >= time.Millisecond, "--report-interval %v: expected 0, or 1ms and more", c.reportInterval),
		validate.That(c.latency >= 0, "--latency %v: expected 0 or more", c.latency),
		validate.That(c.expiry >= time.Millisecond, "--expiry %v: expected 1ms or more", c.expiry),
		validate.That(c.sizeError >= 0 && c.sizeError <= 10, "--size-error %g: expected 0 to 10", c.sizeError),
	)...)
}

// slots returns the number of slots of each kind, after configure.
func (c *simCluster) slots() (maps, reduces int) {
	return c.cfg.Machines * max(c.cfg.MapSlots, 0), c.cfg.Machines * max(c.cfg.ReduceSlots, 0)
}

// checkWorkload reports tasks that the cluster has no slots for: they would wait forever, and
// the run would end with an error that is harder to read.
func (c *simCluster) checkWorkload(w *workload.Workload) error {
	maps, reduces := c.slots()
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if maps == 0 {
			return fmt.Errorf("job %q has %d maps, and there is no slot for them; expected --map-slots of 1 or more", j.ID, len(j.Maps))
		}
		if reduces == 0 && len(j.Reduces) > 0 {
			return fmt.Errorf("job %q has %d reduces, and there is no slot for them; expected --reduce-slots of 1 or more", j.ID, len(j.Reduces))
		}
	}
	return c.cfg.ValidateFor(w)
}

// parseFailure parses NODE@TIME or NODE@JOB:PHASE:PERCENT, with an optional +TIME. It parses
// from the end, because names of jobs may have colons and plus signs: the last colon
// precedes PERCENT, and a + has a meaning only after it.
func parseFailure(text string) (f sim.Failure, err error) {
	node, when, found := strings.Cut(text, "@")
	f.Machine, err = parseMachine(node)
	if !found {
		err = errors.New("no @")
	}
	percentAt := strings.LastIndex(when, ":")
	back := strings.Index(when[percentAt+1:], "+")
	if back >= 0 {
		back += percentAt + 1
		err = errors.Join(err, millis(when[back+1:], &f.BackAfter))
		when = when[:back]
	}
	if percentAt >= 0 {
		err = errors.Join(err, parseTrigger(when, percentAt, &f))
	} else {
		err = errors.Join(err, millis(when, &f.At))
	}
	if err != nil {
		return f, fmt.Errorf("--fail %q: expected NODE@TIME or NODE@JOB:PHASE:PERCENT, then optionally +TIME until it is back, "+
			"such as n0003@600, n0003@10m+5m or n0003@j1:map:50+30", text)
	}
	return f, nil
}

// parseMachine returns the number of a machine, from 0, by its name or the number in it:
// n0001, n1 and 1 are the first.
func parseMachine(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "n"))
	if err == nil && n < 1 {
		err = errors.New("below 1")
	}
	return n - 1, err
}

// parseTrigger parses JOB:PHASE:PERCENT, where percentAt is the last colon: names of jobs may
// have colons. A percent sign at the end is accepted.
func parseTrigger(text string, percentAt int, f *sim.Failure) (err error) {
	phaseAt := strings.LastIndex(text[:percentAt], ":")
	if phaseAt <= 0 {
		return errors.New("no job")
	}
	f.Job, f.Phase = text[:phaseAt], text[phaseAt+1:percentAt]
	if f.Phase != "map" && f.Phase != "reduce" {
		return errors.New("neither map nor reduce")
	}
	f.Percent, err = strconv.ParseFloat(strings.TrimSuffix(text[percentAt+1:], "%"), 64)
	return err
}

// millis parses a time into ms of virtual time; a bare number is in seconds, as in the traces.
func millis(text string, into *int64) error {
	d, err := time.ParseDuration(text)
	if _, bare := strconv.ParseFloat(text, 64); bare == nil {
		d, err = time.ParseDuration(text + "s") // ParseDuration accepts neither Inf nor exponents
	}
	if err == nil && d < 0 {
		err = errors.New("below 0")
	}
	*into = d.Milliseconds()
	return err
}
