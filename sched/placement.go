package sched

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Method is how tasks are matched with machines.
type Method string

const (
	// Flow moves the least bytes, by min-cost flow. "" means it too.
	Flow Method = "flow"
	// Delay is delay scheduling: slots wait for local tasks for a while.
	Delay Method = "delay"
	// None is blind to places.
	None Method = "none"
)

// methods are those that a user may name.
var methods = []Method{Flow, Delay, None}

// ParseMethod reads the name of a method; "" is Flow.
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

// Placement says how a policy matches the tasks it has chosen with machines.
// The zero value is Flow without waiting and without a table of racks.
type Placement struct {
	Method Method // for jobs that do not name their own

	// Racks is the operator's table of racks by name or address of a host. A
	// machine that tells its rack needs no line.
	Racks map[string]string

	// Patience is for how long, in ms, Flow may leave a slot free because the
	// tasks that wait will find one where their input is. 0 is never. It does
	// so only for jobs of several waves, as far as no machine gets more waves
	// than the job has anyway, not for longer than three tasks last, and not for
	// the last task that waits.
	Patience int64

	// Waits of Delay.
	Delay locality.Delay
}

// DefaultPatience suits clusters of several machines, in ms.
const DefaultPatience = 30_000

// DefaultDelay suits tasks of some seconds and more. Hadoop's fair scheduler
// waits as long when machines report every three seconds.
var DefaultDelay = locality.Delay{MachineWait: 4500, RackWait: 4500}

// DefaultPlacement is what a cluster of several machines begins with.
func DefaultPlacement() Placement {
	return Placement{Patience: DefaultPatience, Delay: DefaultDelay}
}

// methodOf is how tasks of a job are placed.
func (p Placement) methodOf(j *cluster.Job) Method {
	for _, m := range []Method{Method(j.Spec.Placement), p.Method} {
		if slices.Contains(methods, m) {
			return m
		}
	}
	return Flow
}
