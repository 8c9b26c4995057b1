package jobmaster

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched"
)

// maxDecisions is how many decisions a leader keeps, and decisionChunk the number of those that are
// dropped at once. A decision takes about 350 bytes with its texts.
const (
	maxDecisions  = 100_000
	decisionChunk = 1000
)

// Decisions are the latest decisions of a master while it leads. The loop adds them; readers do not
// delay it, since they copy only the list of chunks. The next lead begins with none.
type Decisions struct {
	read atomic.Int64 // when List was called last, ms since the epoch; 0 for never
	full atomic.Bool  // offers, skips and shares are among the decisions that are added
	mu   struct {
		sync.Mutex
		chunks [][]sched.Decision // each but the last is full and does not change
		total  uint64             // decisions ever added: the number of the latest one
	}
}

// DecisionFilter selects decisions. Each field that is not zero must match.
type DecisionFilter struct {
	Job     cluster.JobID // the decision is about it, or it gets the slot
	Pool    string        // of the job, or the pool that gets the slot
	Machine string
	Kind    sched.DecisionKind
	Before  uint64 // only decisions with a lower number; default all
	Limit   int    // decisions at most; default DefaultDecisions, and at most MaxDecisions
}

// DefaultDecisions and MaxDecisions bound the decisions in an answer.
const (
	DefaultDecisions = 50
	MaxDecisions     = 1000
)

// traceMillis is for how long after a call of List offers, skips and shares are added. The policy
// takes time to report them.
const traceMillis = 600_000

// trace makes the controller report the decisions that are wanted: all of them if they are written to a
// file or a user has looked at them lately, else those that follow from plans. begins is set at the
// start of a lead, whose controller reports nothing yet.
func (m *Master) trace(begins bool) {
	d := &m.decisions
	read := d.read.Load()
	all := m.cfg.Decisions != nil || read != 0 && m.cfg.Now().UnixMilli()-read < traceMillis
	switch was := d.full.Swap(all); {
	case !begins && was == all:
	case all:
		m.brain.Trace(true)
	default:
		m.brain.TracePlans()
	}
}

// clear drops all decisions. Numbers continue, so that readers see none twice.
func (d *Decisions) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.chunks = nil
}

func (d *Decisions) add(decisions []sched.Decision, policy string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dec := range decisions {
		dec.Policy = policy
		last := len(d.mu.chunks) - 1
		if last < 0 || len(d.mu.chunks[last]) == decisionChunk {
			d.mu.chunks = append(d.mu.chunks, make([]sched.Decision, 0, decisionChunk))
			last++
		}
		d.mu.chunks[last] = append(d.mu.chunks[last], dec)
		d.mu.total++
	}
	if over := len(d.mu.chunks) - maxDecisions/decisionChunk; over > 0 {
		d.mu.chunks = append([][]sched.Decision(nil), d.mu.chunks[over:]...)
	}
}

// List returns the latest decisions that match, at a time in ms since the epoch.
func (d *Decisions) List(now int64, f DecisionFilter) apidoc.Decisions {
	d.read.Store(now)
	list := apidoc.Decisions{Decisions: []apidoc.Decision{}, Full: d.full.Load()}
	d.mu.Lock()
	chunks, number := append([][]sched.Decision(nil), d.mu.chunks...), d.mu.total
	d.mu.Unlock()
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultDecisions
	}
	limit = min(limit, MaxDecisions)
	for c := len(chunks) - 1; c >= 0; c-- {
		list.Kept += uint64(len(chunks[c]))
		list.Since = chunks[c][0].At
		for i := len(chunks[c]) - 1; i >= 0; i, number = i-1, number-1 {
			if list.Before != 0 || f.Before != 0 && number >= f.Before || !f.matches(&chunks[c][i]) {
				continue
			}
			if len(list.Decisions) == limit {
				list.Before = list.Decisions[limit-1].Number
				continue
			}
			list.Decisions = append(list.Decisions, decisionOf(number, &chunks[c][i]))
		}
	}
	return list
}

// decisionOf returns the document of a decision.
func decisionOf(number uint64, d *sched.Decision) apidoc.Decision {
	doc := apidoc.Decision{
		Number: number, At: d.At, Kind: string(d.Kind), Policy: d.Policy, Pool: d.Pool, Job: idText(d.Job), Stage: d.Stage, Task: idText(d.Task), Attempt: idText(d.Attempt),
		Node: d.Machine, Slot: d.Slot.String(), Slots: d.Slots, Place: string(d.Locality), Mode: string(d.Mode), For: idText(d.For), ForPool: d.ForPool, Until: d.Until, Cause: d.Cause,
	}
	if d.Kind == sched.DecisionShare {
		share := d.Share
		doc.Share = &share
	}
	return doc
}

// idText returns an id as text, "" for no id.
func idText[T interface {
	comparable
	fmt.Stringer
}](id T) string {
	var none T
	if id == none {
		return ""
	}
	return id.String()
}

func (f *DecisionFilter) matches(d *sched.Decision) bool {
	return (f.Kind == "" || f.Kind == d.Kind) && (f.Machine == "" || f.Machine == d.Machine) &&
		(f.Pool == "" || f.Pool == d.Pool || f.Pool == d.ForPool) && (f.Job == (cluster.JobID{}) || f.Job == d.Job || f.Job == d.For)
}

// Decisions returns the latest decisions of this master that match: those of its present or last lead.
// Offers, skips and shares are among them only from the first call on, until traceMillis after the
// last one.
func (m *Master) Decisions(f DecisionFilter) apidoc.Decisions {
	return m.decisions.List(m.cfg.Now().UnixMilli(), f)
}
