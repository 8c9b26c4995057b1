package hfsp

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// deal gives the free slots out at one moment: to samples, as far as these may
// have slots that others want; then to phases that are late, by weight; then to
// the others, in the order in which they are done in the virtual cluster. Bundles of
// late phases come before all: samples would take the slots away of which they need
// several at once.
type deal struct {
	policy *Policy
	now    int64
	round  *placement.Round
	made   map[*phase]bool // whose bundles have been offered
}

func (d *deal) run(kind cluster.Slot) {
	if d.over(kind) {
		return
	}
	wanting := d.policy.inLine(kind).wanting
	late := slices.Collect(d.policy.late(d.now, wanting))
	for _, p := range late {
		d.bundles(p)
	}
	d.samples(kind)
	d.late(kind, late)
	for _, p := range wanting {
		if d.over(kind) {
			return
		}
		d.bundles(p)
		d.give(p, p.wanted)
	}
}

// samples gives slots to samples. One that reads from afar takes longer than its like
// and has its phase seem larger, so samples choose their machines before all others;
// but they wait for none, or the order would be a guess for longer.
func (d *deal) samples(kind cluster.Slot) {
	for _, s := range d.policy.sampling(kind) {
		d.offer(s.phase, min(s.slots, d.round.RemainingOf(kind)), d.round.OfferNow)
	}
	d.round.Place()
}

// bundles offers all that a phase has, once.
func (d *deal) bundles(p *phase) {
	if d.made[p] {
		return
	}
	d.made[p] = true
	for _, w := range p.wants {
		if w.Bundle != nil {
			d.round.Offer(w, w.Count)
		}
	}
}

// over reports whether no slot of a kind is left for anybody. Held ones are for
// some.
func (d *deal) over(kind cluster.Slot) bool {
	free := d.round.RemainingOf(cluster.MapSlot) + d.round.RemainingOf(cluster.ReduceSlot)
	return d.round.RemainingOf(kind) == 0 && d.round.Remaining() == free
}

// give offers so many slots to tasks that start alone.
func (d *deal) give(p *phase, slots int) { d.offer(p, slots, d.round.Offer) }

func (d *deal) offer(p *phase, slots int, offer func(w sched.Want, most int)) {
	for _, w := range p.wants {
		if n := min(slots, w.Count); n > 0 && w.Bundle == nil {
			offer(w, n)
			slots -= n
		}
	}
}

// late gives what is left to late phases, the next slot always to the one that has
// fewest for its weight: whose size was thought too small by far is in nobody's way
// whose was but a little (PSBS).
func (d *deal) late(kind cluster.Slot, late []*phase) {
	if len(late) < 2 {
		return
	}
	portions, before := make([]*portion, len(late)), make([]int, len(late))
	for i, p := range late {
		before[i] = d.policy.running(p)
		portions[i] = &portion{phase: p, slots: before[i], demand: before[i] + p.wanted}
	}
	spread(d.round.RemainingOf(kind), portions)
	for i, p := range portions {
		d.give(p.phase, p.slots-before[i])
	}
}

// running is how many slots of its kind a phase holds with attempts that go on.
func (m *model) running(p *phase) int {
	if a := m.ledger.Account(p.id.job); a != nil {
		return a.Running[p.id.kind]
	}
	return 0
}

// portion is slots that a phase gets.
type portion struct {
	*phase
	slots, demand int
}

// spread adds slots to portions one by one, always to the one that has fewest for
// its weight and wants more.
func spread(slots int, portions []*portion) {
	var h byPortion
	for _, p := range portions {
		if p.slots < p.demand {
			h = append(h, p)
		}
	}
	heap.Init(&h)
	for ; slots > 0 && len(h) > 0; slots-- {
		first := h[0]
		if first.slots++; first.slots < first.demand {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
}

// byPortion is a heap of those that want more.
type byPortion []*portion

func (h byPortion) Len() int      { return len(h) }
func (h byPortion) Swap(i, k int) { h[i], h[k] = h[k], h[i] }

func (h byPortion) Less(i, k int) bool {
	return cmp.Or(
		cmp.Compare(float64(h[i].slots)/h[i].weight, float64(h[k].slots)/h[k].weight),
		h[i].id.compare(h[k].id),
	) < 0
}

func (h *byPortion) Push(x any) { *h = append(*h, x.(*portion)) }

func (h *byPortion) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// sampling is the slots that the samples of phases in training are to have next, as
// far as there are any for them.
func (m *model) sampling(kind cluster.Slot) (out []portion) {
	q := &m.queues[kind]
	left := m.conf.trainSlots(kind, int(m.virtual[kind].slots)) - q.samples
	for _, p := range q.trainees {
		if left <= 0 {
			break
		}
		n := min(m.conf.Samples[kind]-p.noted.begun, p.alone, left)
		out = append(out, portion{phase: p, slots: n})
		left -= n
	}
	return out
}
