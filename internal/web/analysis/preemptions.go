package analysis

import (
	"cmp"
	"slices"
)

// Modes are the preemption modes, that which costs least first.
var Modes = []string{"split", "checkpoint", "suspend", "kill"}

// Preemptions is what the preemptions of a job have kept and lost. Times are ms.
type Preemptions struct {
	Since           int64         `json:"since"` // preemptions before this time are unknown, ms since the epoch; 0 if none are missing
	Asked           int           `json:"asked"` // orders of all modes
	Declined        int           `json:"declined"`
	KeptMillis      int64         `json:"keptMillis"` // slot time of attempts that were split, checkpointed or suspended
	LostMillis      int64         `json:"lostMillis"` // slot time of attempts that were preempted by kill
	Checkpoints     int           `json:"checkpoints"`
	CheckpointBytes int64         `json:"checkpointBytes"`
	Modes           []ModeLedger  `json:"modes"`     // in the order of cost
	For             []Beneficiary `json:"for"`       // jobs that the slots were for, most slots first, at most 50
	OtherJobs       int           `json:"otherJobs"` // jobs that are not in For
	Pools           []Beneficiary `json:"pools"`     // pools that the slots were for, most slots first
	Unknown         int           `json:"unknown"`   // slots given up by order of a user, or of a master that did not record for whom
	Latest          []TakenSlot   `json:"latest"`    // the latest orders, the last first
}

// ModeLedger has the preemptions by one mode. Times are ms.
type ModeLedger struct {
	Mode       string `json:"mode"`
	Asked      int    `json:"asked"`
	Granted    int    `json:"granted"`  // the slot was given up in this mode
	Declined   int    `json:"declined"` // the attempt continued
	Other      int    `json:"other"`    // the attempt ended in another way first
	Open       int    `json:"open"`     // has not been answered
	KeptMillis int64  `json:"keptMillis"`
	LostMillis int64  `json:"lostMillis"`
	P50Millis  int64  `json:"p50Millis"` // median of the time from the order to the free slot
	P95Millis  int64  `json:"p95Millis"`
}

// Beneficiary is a job or a pool for which slots of the job were taken.
type Beneficiary struct {
	Job   string `json:"job,omitempty"`  // "" for a pool
	Pool  string `json:"pool,omitempty"` // of the job, "" if unknown
	Slots int    `json:"slots"`
}

// TakenSlot is an order to an attempt to give up its slot. Times are ms since the epoch.
type TakenSlot struct {
	Attempt string `json:"attempt"`
	Node    string `json:"node"`
	Mode    string `json:"mode"`
	At      int64  `json:"time"`
	Free    int64  `json:"freeTime"` // when the slot was free; 0 if it was not
	Outcome string `json:"outcome"`  // granted, declined, other or open
	For     string `json:"for,omitempty"`
	ForPool string `json:"forPool,omitempty"`
	Kept    int64  `json:"keptMillis"`
	Lost    int64  `json:"lostMillis"`
}

// maxLatest bounds Preemptions.Latest and Preemptions.For.
const maxLatest = 50

// slotTime is what a ledger knows of an attempt.
type slotTime struct {
	start, suspendedAt, suspended int64
	order                         int // place in the orders, counted from 1, of one that is not answered or whose process runs still; 0 for none
	inMemory                      bool
}

// at returns how long the attempt has had its slot, as the masters count it.
func (s *slotTime) at(now int64) int64 {
	if s.inMemory {
		now = s.suspendedAt
	}
	return max(0, now-s.start-s.suspended)
}

// Preemptions returns the ledger of the history.
func (h *History) Preemptions() Preemptions {
	p := Preemptions{Since: h.Since, Modes: []ModeLedger{}, For: []Beneficiary{}, Pools: []Beneficiary{}, Latest: []TakenSlot{}}
	orders := h.orders(&p)
	delays := make(map[string][]int64)
	slots := make(map[Beneficiary]int)
	for _, mode := range Modes {
		p.Modes = append(p.Modes, ModeLedger{Mode: mode})
	}
	for _, o := range orders {
		at := slices.IndexFunc(p.Modes, func(l ModeLedger) bool { return l.Mode == o.Mode })
		if at < 0 { // a mode of a newer master
			at = len(p.Modes)
			p.Modes = append(p.Modes, ModeLedger{Mode: o.Mode})
		}
		l := &p.Modes[at]
		l.Asked, l.KeptMillis, l.LostMillis = l.Asked+1, l.KeptMillis+o.Kept, l.LostMillis+o.Lost
		switch o.Outcome {
		case "declined":
			l.Declined++
		case "other":
			l.Other++
		case "open":
			l.Open++
		default:
			l.Granted++
			slots[Beneficiary{Job: o.For, Pool: o.ForPool}]++
			if o.Free > 0 {
				delays[o.Mode] = append(delays[o.Mode], o.Free-o.At)
			}
		}
	}
	for i := range p.Modes {
		l := &p.Modes[i]
		slices.Sort(delays[l.Mode])
		l.P50Millis, l.P95Millis = quantile(delays[l.Mode], .5), quantile(delays[l.Mode], .95)
		p.Asked, p.Declined, p.KeptMillis, p.LostMillis = p.Asked+l.Asked, p.Declined+l.Declined, p.KeptMillis+l.KeptMillis, p.LostMillis+l.LostMillis
	}
	p.setBeneficiaries(slots)
	for i := len(orders) - 1; i >= 0 && len(p.Latest) < maxLatest; i-- {
		p.Latest = append(p.Latest, orders[i])
	}
	return p
}

// setBeneficiaries lists for whom slots were taken. slots has the numbers by job and pool.
func (p *Preemptions) setBeneficiaries(slots map[Beneficiary]int) {
	pools := make(map[string]int)
	for who, n := range slots {
		if who.Job != "" {
			p.For = append(p.For, Beneficiary{who.Job, who.Pool, n})
		}
		if who.Pool != "" {
			pools[who.Pool] += n
		}
	}
	p.Unknown = slots[Beneficiary{}]
	for pool, n := range pools {
		p.Pools = append(p.Pools, Beneficiary{"", pool, n})
	}
	for _, list := range [][]Beneficiary{p.For, p.Pools} {
		slices.SortFunc(list, func(a, b Beneficiary) int {
			return cmp.Or(b.Slots-a.Slots, cmp.Compare(a.Job, b.Job), cmp.Compare(a.Pool, b.Pool))
		})
	}
	p.OtherJobs = max(0, len(p.For)-maxLatest)
	p.For = p.For[:len(p.For)-p.OtherJobs]
}

// orders returns all orders of the history, with what they have kept and lost: the same sums as the
// counters of the job. It counts checkpoints in p.
func (h *History) orders(p *Preemptions) (orders []TakenSlot) {
	times := make([]slotTime, len(h.Attempts))
	for i := range h.events {
		e := &h.events[i]
		if h.of[i] < 0 {
			continue
		}
		t, a := &times[h.of[i]], &h.Attempts[h.of[i]]
		if t.start == 0 {
			t.start = a.Start
		}
		add := func(mode, outcome string) *TakenSlot {
			orders = append(orders, TakenSlot{Attempt: e.Attempt, Node: e.Node, Mode: mode, At: e.At, Outcome: outcome, For: e.For, ForPool: e.ForPool})
			t.order = len(orders)
			return &orders[len(orders)-1]
		}
		var o *TakenSlot // that is open
		if t.order > 0 {
			o = &orders[t.order-1]
		}
		switch e.Kind {
		case "order":
			add(e.Mode, "open")
		case "suspend":
			o := add("suspend", "granted")
			o.Free, o.Kept = e.At, t.at(e.At)
			t.order, t.suspendedAt, t.inMemory = 0, e.At, true
		case "resume":
			t.suspended, t.inMemory = t.suspended+max(0, e.At-t.suspendedAt), false
		case "preempt":
			o.close("other", 0)
			lost := t.at(e.At)
			add("kill", "granted").Lost = lost
		case "checkpoint":
			p.Checkpoints, p.CheckpointBytes = p.Checkpoints+1, p.CheckpointBytes+e.Bytes
			if o != nil {
				o.Kept = t.at(e.At)
				o.Mode = "checkpoint" // an attempt that cannot be split writes a checkpoint
			}
			o.close("granted", e.At)
			t.order = 0
		case "finish":
			outcome := "other"
			if o != nil && o.Mode == "split" {
				o.Kept, outcome = t.at(e.At), "granted"
			}
			o.close(outcome, e.At)
			t.order = 0
		case "decline":
			o.close("declined", 0)
			t.order = 0
		case "exit", "fail", "kill", "lose":
			if o != nil && o.Mode == "kill" {
				o.Free = e.At
			}
			o.close("other", 0)
			if e.Kind != "kill" {
				t.order = 0
			}
		}
	}
	return orders
}

// close answers an order that is open; it does nothing for others and for nil.
func (o *TakenSlot) close(outcome string, free int64) {
	if o != nil && o.Outcome == "open" {
		o.Outcome, o.Free = outcome, free
	}
}

// quantile returns the q-quantile of sorted numbers, 0 if there are none.
func quantile[T int64 | float64](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1)+.5)]
}
