package hfsp

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// queue contains the phases of one kind of all unfinished jobs, in the order in which they
// finish on the virtual cluster. Two shorter lists in the same order contain the phases that
// want slots and the phases that have slots.
//
// While no event happens on the virtual cluster, a phase that changes is moved by
// itself. After an event all phases may finish at other times: the lists are sorted
// again when they are needed.
type queue struct {
	all       []*phase
	wanting   []*phase // phases with wants
	occupying []*phase // phases with slots of attempts that keep running
	sorted    bool     // the three lists are sorted; if not, all may contain phases that are over

	trainees     []*phase // phases whose next samples want slots, in the order of compareTrainees
	samples      int      // running samples of phases in training
	wantingCount int      // phases that want slots
	suspended    int      // slots that suspended attempts had
}

// listing is a queue's record of a phase: the lists that the phase is in, and what it adds to
// the counts. Comparing the listing with the phase shows which lists change.
type listing struct {
	wanting, occupying bool

	trainee bool
	begun   int // samples of a trainee, running or finished
	samples int

	wantingCount, suspended int
}

// compareTrainees puts phases with the most samples first, since one known size is
// worth more than two that are almost known.
func compareTrainees(a, b *phase) int {
	return cmp.Or(-cmp.Compare(a.listed.begun, b.listed.begun), a.id.compare(b.id))
}

// tally counts a phase's tasks.
type tally struct {
	finished, started int  // tasks that are over, and that run or are suspended
	suspended         int  // slots that suspended attempts had
	stalled           bool // running tasks wait for tasks that have no slots
	halted            bool // the job is suspended: other phases do not wait for its samples
}

// state has the values that decide a phase's place in its queue, apart from the virtual
// cluster.
type state struct {
	tally
	wants    []sched.Want // tasks and bundles that it could start now and that would use their slots
	hasSlots bool         // it has slots of attempts that keep running
	over     bool         // none of its tasks starts any more
}

// change sets the state of a phase and updates its queue. The phase is taken out of
// sorted lists before its state changes, since binary search finds it only under its old
// order.
func (m *model) change(p *phase, to state) {
	kind := p.id.kind
	q := &m.queues[kind]
	inOrder := m.inOrder(kind)
	is := listing{wanting: len(to.wants) > 0 && !to.over, occupying: to.hasSlots && !to.over}
	moves := to.stalled != p.stalled || to.over != p.over
	if inOrder {
		m.unlist(&q.all, p, moves)
		m.unlist(&q.wanting, p, p.listed.wanting && (moves || !is.wanting))
		m.unlist(&q.occupying, p, p.listed.occupying && (moves || !is.occupying))
	}
	was := p.listed
	p.state = to
	p.countWanted()
	if inOrder {
		m.list(&q.all, p, moves && !p.over)
		m.list(&q.wanting, p, is.wanting && (moves || !was.wanting))
		m.list(&q.occupying, p, is.occupying && (moves || !was.occupying))
	}
	m.train(q, p, &is)
	if p.wanted > 0 {
		is.wantingCount = 1
	}
	if !p.over {
		is.suspended = p.suspended
	}
	q.wantingCount += is.wantingCount - was.wantingCount
	q.suspended += is.suspended - was.suspended
	p.listed = is
}

// train updates the record of a phase's training in its queue.
func (m *model) train(q *queue, p *phase, is *listing) {
	most := m.conf.Samples[p.id.kind]
	if p.training() {
		if is.samples = min(p.started, most); p.halted {
			is.samples = 0
		}
		is.begun = p.started + p.finished
		is.trainee = is.begun < most && p.alone > 0
	}
	q.samples += is.samples - p.listed.samples
	if is.trainee == p.listed.trainee && is.begun == p.listed.begun {
		return
	}
	if i, there := slices.BinarySearchFunc(q.trainees, p, compareTrainees); there && p.listed.trainee {
		q.trainees = slices.Delete(q.trainees, i, i+1)
	}
	p.listed.begun = is.begun
	if is.trainee {
		i, _ := slices.BinarySearchFunc(q.trainees, p, compareTrainees)
		q.trainees = slices.Insert(q.trainees, i, p)
	}
}

// list inserts a phase into a sorted list, if it belongs there.
func (m *model) list(list *[]*phase, p *phase, wanted bool) {
	if wanted {
		i, _ := slices.BinarySearchFunc(*list, p, m.compare)
		*list = slices.Insert(*list, i, p)
	}
}

// unlist removes a phase from a sorted list, if it is there.
func (m *model) unlist(list *[]*phase, p *phase, there bool) {
	if there {
		i, _ := slices.BinarySearchFunc(*list, p, m.compare)
		*list = slices.Delete(*list, i, i+1)
	}
}

// enqueue adds a new phase.
func (m *model) enqueue(p *phase) {
	q := &m.queues[p.id.kind]
	q.all, q.sorted = append(q.all, p), false
}

// dequeue removes a phase for good.
func (m *model) dequeue(p *phase) {
	m.change(p, state{over: true})
}

// inOrder reports whether the lists of a kind are sorted.
func (m *model) inOrder(kind cluster.Slot) bool {
	return m.queues[kind].sorted && !m.virtual[kind].stale
}

// inLine sorts the lists of a kind's queue if necessary, and returns the queue.
func (m *model) inLine(kind cluster.Slot) *queue {
	q := &m.queues[kind]
	if m.inOrder(kind) {
		return q
	}
	m.virtual[kind].computeDone()
	q.all = slices.DeleteFunc(q.all, func(p *phase) bool { return p.over })
	insertionSort(q.all, m.compare)
	q.wanting, q.occupying, q.sorted = q.wanting[:0], q.occupying[:0], true
	for _, p := range q.all {
		if p.listed.wanting {
			q.wanting = append(q.wanting, p)
		}
		if p.listed.occupying {
			q.occupying = append(q.occupying, p)
		}
	}
	return q
}

// late yields the late phases of a sorted list. They are at the beginning of rank 0 and of
// rank 1.
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
