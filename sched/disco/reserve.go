package disco

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// reserved contains free slots that no job gets, by name of machine.
type reserved map[string]cluster.Slots

// reserve keeps slots that have come free for jobs between two stages, if other jobs would
// take them; until is the time at which the first of these slots is given up.
func (p *Policy) reserve(now int64, view cluster.View) (k reserved, until int64) {
	for kind, n := range p.reservable() {
		if n == 0 {
			continue
		}
		for m := range view.MachinesWithFree(cluster.Slot(kind)) {
			end := view.FreeSince(m, cluster.Slot(kind)) + p.conf.ReserveMillis
			part := min(n, view.FreeSlots(m)[kind])
			if end <= now || part <= 0 {
				continue
			}
			if k == nil {
				k = make(reserved)
			}
			slots := k[m.Name]
			slots[kind], n = part, n-part
			k[m.Name] = slots
			until = sched.Earliest(until, end)
		}
	}
	return k, until
}

// reservable returns how many slots are missing from the shares of jobs between two
// stages, of the kinds that other jobs wait for.
func (p *Policy) reservable() (lacking cluster.Slots) {
	for j := range p.betweenStages {
		for kind, n := range j.upcoming {
			if j.Waiting[kind] == 0 {
				lacking[kind] += min(n, max(j.share[kind]-j.Running[kind], 0))
			}
		}
	}
	for kind, n := range p.waiting {
		if n == 0 {
			lacking[kind] = 0
		}
	}
	return lacking
}

// usableSlots returns a function that returns the free slots of a machine that are not reserved.
func (k reserved) usableSlots(view cluster.View) func(*cluster.Machine) cluster.Slots {
	return func(m *cluster.Machine) cluster.Slots {
		return view.FreeSlots(m).Minus(k[m.Name]).AtLeast(cluster.Slots{})
	}
}
