package hfsp

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/minheap"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// allocator gives out the free slots of one decision: first to users that are owed their
// shares; then to samples, up to the limit for samples; then to late phases, by weight; then to
// the other phases, in the order in which they finish in the virtual cluster. Bundles of late phases come before all of these,
// because samples would take the slots that a bundle needs at the same time.
type allocator struct {
	policy *Policy
	now    int64
	round  *placement.Round
	made   map[*phase]bool // phases whose bundles have been offered
}

// run gives out the free slots of one kind. It stops as soon as none is left, so a
// decision does not cost more with more waiting jobs.
func (d *allocator) run(kind cluster.Slot) {
	if d.over(kind) {
		return
	}
	wanting := d.policy.inLine(kind).wanting
	d.owed(kind, wanting)
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

// owed gives slots to users that are owed their shares.
func (d *allocator) owed(kind cluster.Slot, wanting []*phase) {
	for _, u := range d.policy.users.owed(d.now, kind) {
		left := min(u.lacks(kind), d.round.RemainingOf(kind))
		for _, p := range wanting {
			if left <= 0 {
				break
			}
			if d.policy.users.of(p) == u {
				n := min(left, p.alone)
				d.give(p, n)
				left -= n
			}
		}
	}
}

// samples gives slots to samples. A sample that reads remote input takes longer than a
// typical task and makes its phase seem larger, so samples choose their machines before all
// other tasks. They do not wait for machines, because the order is a guess until they have
// finished.
func (d *allocator) samples(kind cluster.Slot) {
	for _, s := range d.policy.sampling(kind) {
		d.offer(s.phase, min(s.slots, d.round.RemainingOf(kind)), d.round.OfferNow)
	}
	d.round.Place()
}

// bundles offers all bundles of a phase, once.
func (d *allocator) bundles(p *phase) {
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

// over reports whether no slots of a kind are left. Slots reserved for some tasks do not
// count as left.
func (d *allocator) over(kind cluster.Slot) bool {
	free := d.round.RemainingOf(cluster.MapSlot) + d.round.RemainingOf(cluster.ReduceSlot)
	return d.round.RemainingOf(kind) == 0 && d.round.Remaining() == free
}

// give offers slots to tasks that start alone.
func (d *allocator) give(p *phase, slots int) { d.offer(p, slots, d.round.Offer) }

// offer passes the wants of a phase for tasks that start alone to one of the round's
// methods.
func (d *allocator) offer(p *phase, slots int, offer func(w sched.Want, most int)) {
	for _, w := range p.wants {
		if n := min(slots, w.Count); n > 0 && w.Bundle == nil {
			offer(w, n)
			slots -= n
		}
	}
}

// late gives the remaining slots to late phases. Each slot goes to the phase with the fewest
// slots for its weight. So a phase with a large error in its size does not delay phases with
// small errors (PSBS).
func (d *allocator) late(kind cluster.Slot, late []*phase) {
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

// running returns how many slots of its kind a phase has in attempts that keep running.
func (m *model) running(p *phase) int {
	if a := m.ledger.Account(p.id.job); a != nil {
		return a.Running[p.id.kind]
	}
	return 0
}

// portion counts the slots that a phase gets, or is due.
type portion struct {
	*phase
	slots, demand int // slots so far, and the most that it can use; slots <= demand at the end
}

// spread adds slots to portions one at a time, each to the portion with the fewest for
// its weight that wants more.
func spread(slots int, portions []*portion) {
	var h minheap.Heap[*portion]
	for _, p := range portions {
		if p.slots < p.demand {
			h = append(h, p)
		}
	}
	h.Init()
	for ; slots > 0 && len(h) > 0; slots-- {
		first := h[0]
		if first.slots++; first.slots < first.demand {
			h.FixFirst()
		} else {
			h.Pop()
		}
	}
}

// Before reports whether a portion has fewer slots for its weight than another.
func (p *portion) Before(other *portion) bool {
	return cmp.Or(cmp.Compare(float64(p.slots)/p.weight, float64(other.slots)/other.weight), p.id.compare(other.id)) < 0
}

// sampling returns the slots that samples of phases in training get next, as far as
// there are slots for samples.
func (m *model) sampling(kind cluster.Slot) (out []portion) {
	q := &m.queues[kind]
	left := m.conf.trainSlots(kind, int(m.virtual[kind].slots)) - q.samples
	for _, p := range q.trainees {
		if left <= 0 {
			break
		}
		n := min(m.conf.Samples[kind]-p.listed.begun, p.alone, left)
		out = append(out, portion{phase: p, slots: n})
		left -= n
	}
	return out
}
