package workload

import (
	"cmp"
	"slices"
)

// observedCluster is what the attempts of a log tell of the cluster that they ran on.
func observedCluster(past []loggedLine) (c ObservedCluster) {
	type change struct {
		at    int64
		begin int // 1 at the start of an attempt, -1 at its end
	}
	changes := make(map[string]*[2][]change) // by machine and kind
	for i := range past {
		for _, t := range past[i].job.tasks {
			kind := 0
			if t.reduce {
				kind = 1
			}
			for _, a := range t.attempts {
				if a.machine == "" {
					continue
				}
				if changes[a.machine] == nil {
					changes[a.machine] = new([2][]change)
				}
				if a.start != 0 && a.finish != 0 {
					of := &changes[a.machine][kind]
					*of = append(*of, change{a.start, 1}, change{a.finish, -1})
				}
			}
		}
	}
	c.Machines = len(changes)
	most := [2]int{}
	for _, kinds := range changes {
		for kind, list := range kinds {
			slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), a.begin-b.begin) })
			now := 0
			for _, ch := range list {
				now += ch.begin
				most[kind] = max(most[kind], now)
			}
		}
	}
	c.MapSlots, c.ReduceSlots = most[0], most[1]
	return c
}
