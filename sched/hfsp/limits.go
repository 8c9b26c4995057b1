package hfsp

import (
	"math"

	"github.com/hammr/hammr/cluster"
)

// lowWater is a fraction of the slots. Suspended attempts use memory, so at most as many
// are suspended as there are slots. Once so many are, none is suspended until their number
// has fallen to this fraction (the paper's section on preemption).
const lowWater = 0.75

func (p *Policy) lowWater(kind int) int {
	return int(math.Floor(lowWater * p.virtual[kind].slots))
}

// isFull reports whether no more attempts may be suspended if so many are.
func (p *Policy) isFull(kind cluster.Slot, still int) bool {
	switch {
	case float64(still) >= p.virtual[kind].slots:
		p.full[kind] = true
	case still <= p.lowWater(int(kind)):
		p.full[kind] = false
	}
	return p.full[kind]
}
