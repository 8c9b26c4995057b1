package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// simCluster is the cluster that is modelled, and who gives out its slots.
type simCluster struct {
	policies            []string
	conf                policyConf
	allocations         string
	mapMode, reduceMode string
	sizeError           float64
	fail                []string
	heartbeat, latency  time.Duration
	expiry              time.Duration
	quiet               bool

	preemption preempt.Config
	cfg        sim.Config
}

// addFlags gives a command the flags of the cluster.
func (c *simCluster) addFlags(cmd *cobra.Command) {
	ways := "`way`, one of " + strings.Join(preemptionModeNames(), ", ")
	c.conf = make(policyConf)
	flags := cmd.Flags()
	flags.StringSliceVar(&c.policies, "policy", []string{"fifo"}, "`names` of policies: "+strings.Join(registry.Names(), ", "))
	flags.Var(c.conf, "conf", "a setting of the policies, or of one with POLICY: before it; may be given several times")
	flags.StringVar(&c.allocations, "allocations", "", "Hadoop's allocation `file`, with the pools of policies that have any")
	flags.StringVar(&c.mapMode, "map-preemption", string(preempt.Auto), "how slots are taken from maps: "+ways)
	flags.StringVar(&c.reduceMode, "reduce-preemption", string(preempt.Auto), "how slots are taken from reduces: "+ways)
	flags.Float64Var(&c.sizeError, "size-error", 0, "lognormal `spread` of the errors of policies that estimate sizes")
	flags.IntVar(&c.cfg.Machines, "nodes", 0, "`number` of machines")
	flags.IntVar(&c.cfg.MapSlots, "map-slots", 4, "`number` of map slots of a machine")
	flags.IntVar(&c.cfg.ReduceSlots, "reduce-slots", 2, "`number` of reduce slots of a machine")
	flags.IntVar(&c.cfg.Racks, "racks", 1, "`number` of racks")
	flags.IntVar(&c.cfg.Replication, "replication", 3, "`copies` of each block of input")
	flags.Uint64Var(&c.cfg.Seed, "seed", 1, "`number` from which all chance comes")
	flags.DurationVar(&c.heartbeat, "heartbeat", 0, "`time` between two reports of a machine; 0: it reports at once")
	flags.DurationVar(&c.latency, "latency", 5*time.Millisecond, "`time` that a message takes")
	flags.DurationVar(&c.expiry, "expiry", 10*time.Second, "`silence` after which a machine is given up")
	flags.StringSliceVar(&c.fail, "fail", nil, "machines that are lost: `NODE@TIME` or NODE@JOB:PHASE:PERCENT, the first is n0001; +TIME until it is back")
	flags.BoolVar(&c.quiet, "quiet", false, "no progress bar")
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(registry.Names(), cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"map-preemption", "reduce-preemption"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(preemptionModeNames(), cobra.ShellCompDirectiveNoFileComp))
	}
}

func preemptionModeNames() (names []string) {
	for _, way := range preempt.Modes {
		names = append(names, string(way))
	}
	return names
}

// configure makes a configuration of the flags, or tells what is wrong with them
// whatever the workload is.
func (c *simCluster) configure() error {
	faults := []error{c.checkNumbers(), c.checkPolicies()}
	for _, text := range c.fail {
		f, err := parseFailure(text)
		c.cfg.Failures, faults = append(c.cfg.Failures, f), append(faults, err)
	}
	var err error
	if c.preemption.Map, err = preempt.Parse(c.mapMode); err != nil {
		faults = append(faults, fmt.Errorf("--map-preemption: %w", err))
	}
	if c.preemption.Reduce, err = preempt.Parse(c.reduceMode); err != nil {
		faults = append(faults, fmt.Errorf("--reduce-preemption: %w", err))
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	c.cfg.Heartbeat, c.cfg.Latency, c.cfg.Expiry = c.heartbeat.Milliseconds(), c.latency.Milliseconds(), c.expiry.Milliseconds()
	c.preemption.SlotFreeLatency = c.cfg.Heartbeat // 0 is the default
	c.cfg.Costs = c.preemption.Costs
	noneIfZero(&c.cfg.MapSlots)
	noneIfZero(&c.cfg.ReduceSlots)
	noneIfZero(&c.cfg.Latency)
	return c.cfg.Validate()
}

// noneIfZero says none at all where sim would take 0 for its default.
func noneIfZero[T int | int64](n *T) {
	if *n == 0 {
		*n = -1
	}
}

// What a cluster has at most, of which each takes memory.
const (
	maxMachines = 1_000_000
	maxSlots    = 10_000 // of each kind, of a machine
)

// checkNumbers looks at the flags that sim would take for something else, or tell
// of in other words.
func (c *simCluster) checkNumbers() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.cfg.Machines < 1 || c.cfg.Machines > maxMachines {
		fault("--nodes %d: expected 1 to %d", c.cfg.Machines, maxMachines)
	}
	if n := c.cfg.MapSlots; n < 0 || n > maxSlots {
		fault("--map-slots %d: expected 0 to %d", n, maxSlots)
	}
	if n := c.cfg.ReduceSlots; n < 0 || n > maxSlots {
		fault("--reduce-slots %d: expected 0 to %d", n, maxSlots)
	}
	if c.cfg.Racks < 1 || c.cfg.Replication < 1 {
		fault("--racks %d --replication %d: expected at least 1 of each", c.cfg.Racks, c.cfg.Replication)
	}
	if t := c.heartbeat; t < 0 || t > 0 && t < time.Millisecond {
		fault("--heartbeat %v: expected 0, or 1ms and more", t)
	}
	if t := c.latency; t < 0 {
		fault("--latency %v: expected 0 or more", t)
	}
	if t := c.expiry; t < time.Millisecond {
		fault("--expiry %v: expected 1ms or more", t)
	}
	if !(c.sizeError >= 0 && c.sizeError <= 10) {
		fault("--size-error %g: expected 0 to 10", c.sizeError)
	}
	return errors.Join(faults...)
}

// slots is how many there are of each kind, after settle.
func (c *simCluster) slots() (maps, reduces int) {
	return c.cfg.Machines * max(c.cfg.MapSlots, 0), c.cfg.Machines * max(c.cfg.ReduceSlots, 0)
}

// checkWorkload tells of what a workload has that the cluster never runs.
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
