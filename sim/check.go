package sim

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// checkInvariants looks the state through, and holds the world against it: no
// machine is at more tasks than it has slots, and nothing that stands goes on.
func (b *body) checkInvariants() error {
	faults := []error{b.state.CheckInvariants()}
	for _, m := range b.machines {
		busy := [2]int{}
		for _, a := range m.running {
			if !a.suspended {
				busy[a.kind]++
			}
			if a.ended || a.machine != m || b.attempts[a.id] != a {
				faults = append(faults, fmt.Errorf("%s runs %v, which is not there", m.name, a.id))
			}
			if a.workDone < 0 || a.workDone > a.ownWork || a.copied > a.bytes || a.restoredWork > a.taskWork {
				faults = append(faults, fmt.Errorf("%v has done %d of %d ms, before that %d of %d, and copied %d of %d bytes",
					a.id, a.workDone, a.ownWork, a.restoredWork, a.taskWork, a.copied, a.bytes))
			}
		}
		known := b.view.Machine(m.name)
		for kind, n := range busy {
			moving := migrating(known, cluster.Slot(kind))
			if n > b.slotsOf(cluster.Slot(kind))+moving {
				faults = append(faults, fmt.Errorf("%s is at %d %vs", m.name, n, cluster.Slot(kind)))
			}
			if known != nil && known.Free(cluster.Slot(kind))+moving < 0 && !known.Lost {
				faults = append(faults, fmt.Errorf("%s has more than its slots given out", m.name))
			}
		}
	}
	return errors.Join(faults...)
}

// migrating is how many attempts were woken on a machine to go on elsewhere, for which it
// may have no slot: they are about to end.
func migrating(m *cluster.Machine, kind cluster.Slot) (n int) {
	if m == nil {
		return 0
	}
	for _, a := range m.Attempts {
		if a.Slot == kind && a.PreemptRequested() && a.SuspendedAt > 0 {
			n++
		}
	}
	return n
}
