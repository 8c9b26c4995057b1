package notice

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Kind says why a machine will stop.
type Kind string

const (
	Interruption Kind = "interruption" // the cloud takes the machine back, in seconds or minutes
	Maintenance  Kind = "maintenance"  // the cloud restarts or moves the machine, perhaps in days
	Rebalance    Kind = "rebalance"    // the cloud expects an interruption, which may never come
)

// Kinds are the names of all kinds.
func Kinds() []string { return []string{string(Interruption), string(Maintenance), string(Rebalance)} }

// Notice says that the machine will stop.
type Notice struct {
	ID       string // of the cloud's event; "" if it has none
	Kind     Kind
	Text     string    // the event in the words of the cloud
	Deadline time.Time // when the machine stops at the earliest; zero if the cloud does not say
	Alone    bool      // the event has an ID and concerns no other machine, so this machine may acknowledge it
}

// String describes the notice for logs.
func (n *Notice) String() string {
	if n.Deadline.IsZero() {
		return fmt.Sprintf("%s (%s)", n.Kind, n.Text)
	}
	return fmt.Sprintf("%s at %s (%s)", n.Kind, n.Deadline.UTC().Format(time.RFC3339), n.Text)
}

// Source asks the metadata service of a cloud.
type Source interface {
	// Poll returns the notices that hold now. It waits for a change before that, up to the given time.
	Poll(ctx context.Context, wait time.Duration) ([]Notice, error)
	// Acknowledge reports to the cloud that it may stop the machine before the deadline of a
	// notice that is Alone. Clouds without acknowledgements ignore it.
	Acknowledge(ctx context.Context, n Notice) error
}

// lead is how long before its deadline a maintenance begins to matter. Clouds announce
// maintenance days before, and a drained machine is idle.
const lead = 10 * time.Minute

// choose returns the notice to follow: of those of the given kinds that matter now, the one
// with the first deadline; nil for none. A notice without a deadline comes last.
func choose(notices []Notice, kinds []Kind, now time.Time) *Notice {
	var first *Notice
	for i := range notices {
		n := &notices[i]
		if !slices.Contains(kinds, n.Kind) || n.Kind == Maintenance && !n.Deadline.IsZero() && n.Deadline.Sub(now) > lead {
			continue
		}
		if first == nil || first.Deadline.IsZero() || !n.Deadline.IsZero() && n.Deadline.Before(first.Deadline) {
			first = n
		}
	}
	return first
}
