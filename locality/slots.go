package locality

// Slots counts slots by kind. The caller defines the kinds.
type Slots [2]int

// MachineSlots is the slots of a machine.
type MachineSlots struct {
	Free Slots // available for assignment
	Used Slots // occupied
}

// Group is tasks that run together in slots of one machine.
type Group struct {
	Task
	Slots Slots // at least one
}

func (s Slots) plus(t Slots) Slots {
	for kind := range s {
		s[kind] += t[kind]
	}
	return s
}

func (s Slots) minus(t Slots) Slots {
	for kind := range s {
		s[kind] -= t[kind]
	}
	return s
}

func (s Slots) fitsInto(room Slots) bool {
	for kind := range s {
		if s[kind] > 0 && s[kind] > room[kind] {
			return false
		}
	}
	return true
}

func (s Slots) sum() (n int) {
	for _, of := range s {
		n += of
	}
	return n
}

// Times returns how many times the slots, at least one, fit into the given ones.
func (s Slots) Times(room Slots) int {
	times := -1
	for kind, n := range s {
		if n == 0 {
			continue
		}
		if fit := max(room[kind], 0) / n; times < 0 || fit < times {
			times = fit
		}
	}
	return times
}
