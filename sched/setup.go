package sched

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
)

// Setup has the arguments of every policy's constructor, in addition to the policy's own
// settings.
type Setup struct {
	Placement Placement
	Preempt   preempt.Config // how slots may be taken from running tasks

	// Oracle returns how long all tasks of a job that take slots of a kind occupy them
	// together, in ms; ok is false for jobs that it does not know. Only a simulator has
	// one; nil otherwise.
	Oracle func(job *cluster.Job, kind cluster.Slot) (ms int64, ok bool)
}

// Placement configures how tasks that a policy has chosen are matched with machines
// (package placement). The zero value is Flow without waiting and without a table of
// racks.
//
// A limit for every policy is a field here. placement.Round keeps it, and so does
// slotPlan.write of chronos (fill.go), which moves starts afterwards; Round.reason
// (placement/explain.go) explains it. Package ledger has no settings: fair, disco and hfsp,
// which have a Ledger, pass the limit to it. Package control knows only Policy: what it has to
// know of a limit is an interface in optional.go.
type Placement struct {
	Method Method // method for jobs that do not name their own

	// Racks is the operator's table of racks by name or address of a host. A machine
	// that reports its rack needs no entry.
	Racks map[string]string

	// Patience is how long, in ms, Flow may leave a slot free for a task that will find its
	// input there; 0 is never. Flow waits only for jobs of several waves, and only if no
	// machine gets more waves than the job has anyway. It waits at most as long as three
	// tasks take, and never for the last waiting task.
	Patience int64

	// Delay contains the waits of method Delay.
	Delay locality.Delay
}

// DefaultPatience suits clusters of several machines, in ms.
const DefaultPatience = 30_000

// DefaultDelay suits tasks of a few seconds and more. Hadoop's fair scheduler waits for the
// same time if machines send a heartbeat every three seconds.
var DefaultDelay = locality.Delay{MachineWait: 4500, RackWait: 4500}

// DefaultPlacement returns the initial placement of a cluster of several machines.
func DefaultPlacement() Placement {
	return Placement{Patience: DefaultPatience, Delay: DefaultDelay}
}

// Method is how tasks are matched with machines.
type Method string

const (
	// Flow moves the fewest bytes, by min-cost flow. "" means Flow too.
	Flow Method = "flow"
	// Delay is delay scheduling: a slot waits a while for tasks with their input on its
	// machine, then for those with it in its rack.
	Delay Method = "delay"
	// None ignores where input lies.
	None Method = "none"
)

// methods lists the methods that a user may name.
var methods = []Method{Flow, Delay, None}

// ParseMethod parses the name of a method; "" is Flow.
func ParseMethod(name string) (Method, error) {
	if name == "" {
		return Flow, nil
	}
	if m := Method(name); slices.Contains(methods, m) {
		return m, nil
	}
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = string(m)
	}
	return "", fmt.Errorf("sched: placement %q is unknown; choose one of %s", name, strings.Join(names, ", "))
}

// MethodOf returns the placement method for tasks of a job: the method that the job names,
// else the policy's method. Unknown names count as unset, since a job may come from a newer
// client.
func (p Placement) MethodOf(j *cluster.Job) Method {
	for _, m := range []Method{Method(j.Spec.Placement), p.Method} {
		if slices.Contains(methods, m) {
			return m
		}
	}
	return Flow
}
