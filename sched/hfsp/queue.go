package hfsp

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// queue is the phases of one kind of jobs that are not over, in the order in which
// they are done on the virtual cluster; and apart from that, in the same order, those
// that want slots and those that have some, of which there are few among many jobs.
//
// While nothing happens on the virtual cluster a phase that changes is moved by
// itself. When something does, everybody may be done at another time: then all are
// put in order again, once it matters.
type queue struct {
	all     []*phase
	wanting []*phase // with something in wants
	holding []*phase // with slots of attempts that go on
	sorted  bool     // these three are in order; all may have phases that are over when not

	trainees []*phase // with samples to be started that want slots, by compareTrainees
	samples  int      // that phases in training have started
	hungry   int      // phases that want slots
	still    int      // slots that attempts had which stand still
}

// listing is what a queue has noted of a phase: where it is found, and what it adds to
// the counts.
type listing struct {
	wanting, holding bool

	trainee bool
	begun   int // samples of a trainee, through or started
	samples int

	hungry, still int
}

// compareTrainees has those first who have most samples already, since a size that
// is known is worth more than two that are about to be.
func compareTrainees(a, b *phase) int {
	return cmp.Or(-cmp.Compare(a.noted.begun, b.noted.begun), a.id.compare(b.id))
}

// tally is what is counted of a phase's tasks.
type tally struct {
	finished, started int  // tasks that are over, and that run or stand still
	still             int  // slots that attempts had which stand still
	stalled           bool // what runs waits for tasks that have no slots
	halted            bool // the job is suspended: what was started of it is no sample that others wait for
}

// state is what of a phase its queue goes by, as far as the virtual cluster does not
// tell.
type state struct {
	tally
	wants []sched.Want // what it could have now and has a use for
	holds bool         // it has slots of attempts that go on
	over  bool         // nothing of it starts any more
}

// change gives a phase another state.
func (m *model) change(p *phase, to state) {
	kind := p.id.kind
	q := &m.queues[kind]
	inOrder := m.inOrder(kind)
	is := listing{wanting: len(to.wants) > 0 && !to.over, holding: to.holds && !to.over}
	moves := to.stalled != p.stalled || to.over != p.over
	if inOrder {
		m.unlist(&q.all, p, moves)
		m.unlist(&q.wanting, p, p.noted.wanting && (moves || !is.wanting))
		m.unlist(&q.holding, p, p.noted.holding && (moves || !is.holding))
	}
	was := p.noted
	p.state = to
	p.countWanted()
	if inOrder {
		m.list(&q.all, p, moves && !p.over)
		m.list(&q.wanting, p, is.wanting && (moves || !was.wanting))
		m.list(&q.holding, p, is.holding && (moves || !was.holding))
	}
	m.train(q, p, &is)
	if p.wanted > 0 {
		is.hungry = 1
	}
	if !p.over {
		is.still = p.still
	}
	q.hungry += is.hungry - was.hungry
	q.still += is.still - was.still
	p.noted = is
}

// train notes what of a phase's training is to be done; is replaces what was noted.
func (m *model) train(q *queue, p *phase, is *listing) {
	most := m.conf.Samples[p.id.kind]
	if p.training() {
		if is.samples = min(p.started, most); p.halted {
			is.samples = 0
		}
		is.begun = p.started + p.finished
		is.trainee = is.begun < most && p.alone > 0
	}
	q.samples += is.samples - p.noted.samples
	if is.trainee == p.noted.trainee && is.begun == p.noted.begun {
		return
	}
	if i, there := slices.BinarySearchFunc(q.trainees, p, compareTrainees); there && p.noted.trainee {
		q.trainees = slices.Delete(q.trainees, i, i+1)
	}
	p.noted.begun = is.begun
	if is.trainee {
		i, _ := slices.BinarySearchFunc(q.trainees, p, compareTrainees)
		q.trainees = slices.Insert(q.trainees, i, p)
	}
}

// list puts a phase into a list that is in order, if it is to be there.
func (m *model) list(list *[]*phase, p *phase, wanted bool) {
	if wanted {
		i, _ := slices.BinarySearchFunc(*list, p, m.compare)
		*list = slices.Insert(*list, i, p)
	}
}

// unlist takes a phase out of one, if it is there to be taken.
func (m *model) unlist(list *[]*phase, p *phase, there bool) {
	if there {
		i, _ := slices.BinarySearchFunc(*list, p, m.compare)
		*list = slices.Delete(*list, i, i+1)
	}
}

// enqueue adds a phase that is new.
func (m *model) enqueue(p *phase) {
	q := &m.queues[p.id.kind]
	q.all, q.sorted = append(q.all, p), false
}

// dequeue takes a phase out for good.
func (m *model) dequeue(p *phase) {
	m.change(p, state{over: true})
}

// inOrder reports whether the lists of a kind are in order.
func (m *model) inOrder(kind cluster.Slot) bool {
	return m.queues[kind].sorted && !m.virtual[kind].stale
}

// inLine is the queue of a kind, in order: those that are done first in the virtual
// cluster before others.
func (m *model) inLine(kind cluster.Slot) *queue {
	q := &m.queues[kind]
	if m.inOrder(kind) {
		return q
	}
	m.virtual[kind].project()
	q.all = slices.DeleteFunc(q.all, func(p *phase) bool { return p.over })
	mend(q.all, m.compare)
	q.wanting, q.holding, q.sorted = q.wanting[:0], q.holding[:0], true
	for _, p := range q.all {
		if p.noted.wanting {
			q.wanting = append(q.wanting, p)
		}
		if p.noted.holding {
			q.holding = append(q.holding, p)
		}
	}
	return q
}

// late are the phases of a list in order that are late: those at the beginning of each
// rank, as far as that has phases in the virtual cluster.
func (m *model) late(now int64, list []*phase) iter.Seq[*phase] {
	return func(yield func(*phase) bool) {
		for rank := range 2 {
			from, _ := slices.BinarySearchFunc(list, rank, func(p *phase, rank int) int { return cmp.Compare(m.rank(p), rank) })
			for _, p := range list[from:] {
				if m.rank(p) != rank || !p.late(now) {
					break
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}
