package hfsp

import (
	"math"

	"github.com/hammr/hammr/cluster"
)

// Attempts that stand still hold memory. No more do than there are slots; when so
// many do, no more are suspended until a part of them has gone on.
const lowWater = 0.75

func (p *Policy) lowWater(kind int) int {
	return int(math.Floor(lowWater * p.virtual[kind].slots))
}

// isFull reports whether no more attempts are to stand still where so many do.
func (p *Policy) isFull(kind cluster.Slot, still int) bool {
	switch {
	case float64(still) >= p.virtual[kind].slots:
		p.full[kind] = true
	case still <= p.lowWater(int(kind)):
		p.full[kind] = false
	}
	return p.full[kind]
}
