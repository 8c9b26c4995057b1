package registry

import (
	"cmp"
	"strings"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// MinRun is a setting of every policy: the least time, in ms, for which a resumed attempt
// keeps its slot.
const MinRun = "hammr.preempt.min.run"

// Settings of every policy that say what preemption costs, as measured on the machines of a
// cluster. If attempts and machines report their memory, the reports count instead.
const (
	TaskMemory      = "hammr.preempt.task.memory"       // bytes of a task that has not reported its memory
	DiskRate        = "hammr.preempt.disk.rate"         // bytes/s that a machine's disk writes or reads
	SplitTime       = "hammr.preempt.split.time"        // ms in which a split map publishes its output
	SlotFreeLatency = "hammr.preempt.slot.free.latency" // ms until the master knows that a slot is free
)

// Victims is a setting of every policy: which of the attempts that may lose their slots loses it
// first. Its values are the names that RegisterVictims has.
const Victims = "hammr.preempt.victims"

func init() {
	RegisterVictims("least-work", preempt.LeastWork{})
	RegisterVictims("most-remaining", preempt.MostRemaining{})
}

// takePreempt reads the preemption settings that all policies share, and returns the other
// settings. A setting that is missing keeps the value of the cluster's configuration.
func takePreempt(policy string, conf map[string]string, config *preempt.Config) (rest map[string]string, err error) {
	s, rest := takeSettings(policy, conf, MinRun, TaskMemory, DiskRate, SplitTime, SlotFreeLatency, Victims)
	if ms := s.MillisOrNever(MinRun); ms != 0 {
		config.MinRunMillis = ms
	}
	if order := Parsed(s, Victims, "one of "+strings.Join(orders.names(), ", "), orders.find); order != nil {
		config.Order = order
	}
	for name, cost := range map[string]*int64{
		TaskMemory: &config.TaskBytes, DiskRate: &config.DiskRate, SplitTime: &config.SplitMillis, SlotFreeLatency: &config.SlotFreeLatency,
	} {
		if value := s.Integer(name, "a whole number above 0, at most 10^15", 1, 1e15); value != 0 {
			*cost = value
		}
	}
	return rest, s.err()
}

// PlacementMethod is a setting of every policy: the sched.Method for jobs that name no
// method.
const PlacementMethod = "hammr.scheduler.placement"

// Settings of every policy for delay scheduling: how long, in ms, a slot waits for tasks
// with their input on its machine, and then for tasks with their input in its rack.
// LocalityDelay sets both; -1 is the cluster's default. If one of them is set and
// PlacementMethod is not, the method is sched.Delay.
const (
	LocalityDelay = "mapred.fairscheduler.locality.delay"
	NodeDelay     = LocalityDelay + ".node"
	RackDelay     = LocalityDelay + ".rack"
)

// takePlacement reads the placement settings that all policies share, and returns the other
// settings. A job that names a placement keeps that placement. Hadoop chooses delay
// scheduling by its wait, so a wait without a method means delay.
func takePlacement(policy string, conf map[string]string, p *sched.Placement) (rest map[string]string, err error) {
	s, rest := takeSettings(policy, conf, PlacementMethod, LocalityDelay, NodeDelay, RackDelay)
	method := Parsed(s, PlacementMethod, "flow, delay or none", sched.ParseMethod)
	if len(s.conf) > 0 {
		p.Method = cmp.Or(method, sched.Delay)
	}
	if both := s.wait(LocalityDelay, -1); both >= 0 {
		p.Delay.MachineWait, p.Delay.RackWait = both, both
	}
	p.Delay.MachineWait, p.Delay.RackWait = s.wait(NodeDelay, p.Delay.MachineWait), s.wait(RackDelay, p.Delay.RackWait)
	return rest, s.err()
}

// wait reads a number of ms. If the setting is missing or -1, it returns the value
// otherwise. So it does for a bad value, which err reports later.
func (s *Settings) wait(name string, otherwise int64) int64 {
	if s.Text(name) == "" {
		return otherwise
	}
	errs := len(s.errs)
	if ms := s.Integer(name, "a whole number of ms, or -1", -1, 1e15); ms >= 0 && len(s.errs) == errs {
		return ms
	}
	return otherwise
}
