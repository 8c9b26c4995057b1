package jobmaster

import (
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/percentile"
)

// meters measure the loop, whether this master leads or not. The loop adds values; any
// goroutine may read them, so a scrape of metrics costs the loop nothing.
type meters struct {
	turns     *percentile.Window[time.Duration] // turns of the loop that had work
	decisions *percentile.Window[time.Duration] // steps of the controller
	batches   *percentile.Window[int]           // entries of applied batches
	refused   atomic.Int64                      // requests refused by an OverloadError
	mostNow   atomic.Int64                      // most messages taken from the inbox at once since peakAt
	mostLast  atomic.Int64                      // the same in the peakInterval before
	peakAt    time.Time                         // only the loop uses it
}

// A busy leader makes some thousand turns in a second.
const (
	latestTurns     = 8192
	latestDecisions = 8192
	latestBatches   = 1024
)

// peakInterval is how often Meters.InboxPeak forgets. It is longer than the time between two
// scrapes.
const peakInterval = time.Minute

func newMeters() meters {
	return meters{
		turns:     percentile.NewWindow[time.Duration](latestTurns),
		decisions: percentile.NewWindow[time.Duration](latestDecisions),
		batches:   percentile.NewWindow[int](latestBatches),
	}
}

// took counts the messages that one turn takes from the inbox.
func (m *meters) took(messages int, now time.Time) {
	if now.Sub(m.peakAt) >= peakInterval {
		m.mostLast.Store(m.mostNow.Load())
		m.mostNow.Store(0)
		m.peakAt = now
	}
	m.mostNow.Store(max(m.mostNow.Load(), int64(messages)))
}

// Meters describes the loop of a master.
type Meters struct {
	Turns     percentile.Summary[time.Duration] // turns that had work: messages, a batch, or a step of the leader
	Decisions percentile.Summary[time.Duration] // steps of the controller, with the policy's decisions
	Batches   percentile.Summary[int]           // entries of a batch that was applied
	Inbox     int                               // messages that wait in the inbox
	InboxPeak int                               // most messages taken at once in the last one to two minutes
	Refused   int64                             // requests refused because too many were waiting
}

// Meters returns the measurements of the loop. It asks the loop nothing.
func (m *Master) Meters() Meters {
	return Meters{
		Turns: m.meters.turns.Summary(), Decisions: m.meters.decisions.Summary(), Batches: m.meters.batches.Summary(),
		Inbox: m.inbox.Len(), InboxPeak: int(max(m.meters.mostNow.Load(), m.meters.mostLast.Load())), Refused: m.meters.refused.Load(),
	}
}
