package apidoc

import (
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/size"
)

// Drain is how far the draining of a tasknode is.
type Drain struct {
	Since      int64         `json:"since"`              // when it has begun
	Partly     bool          `json:"partly,omitempty"`   // it had begun before Since, when the leader started to count
	Deadline   int64         `json:"deadline,omitempty"` // when a user expects it to be over; nothing happens then
	Start      DrainCounts   `json:"start"`              // at Since
	Left       DrainCounts   `json:"left"`
	Moved      int64         `json:"moved"` // outputs and checkpoints
	MovedBytes int64         `json:"movedBytes"`
	Targets    []DrainTarget `json:"targets"` // the 20 tasknodes that have got most

	BytesPerSecond float64 `json:"bytesPerSecond"`
	MovedPerSecond float64 `json:"movedPerSecond"`
	RateMillis     int64   `json:"rateMillis"`           // time over which the rates are measured
	LeftMillis     int64   `json:"leftMillis,omitempty"` // until all outputs and checkpoints are moved; absent if that is not known
	Basis          string  `json:"basis"`                // of LeftMillis, or why it is absent
}

// DrainCounts are what has to leave a tasknode.
type DrainCounts struct {
	Attempts    int64 `json:"attempts"`
	Outputs     int64 `json:"outputs"`
	Checkpoints int64 `json:"checkpoints"`
	Bytes       int64 `json:"bytes"` // of outputs and checkpoints
}

// Items returns the number of outputs and checkpoints.
func (c DrainCounts) Items() int64 { return c.Outputs + c.Checkpoints }

// DrainTarget is a tasknode to which outputs and checkpoints were moved.
type DrainTarget struct {
	Node  string `json:"node"`
	Moved int64  `json:"moved"`
	Bytes int64  `json:"bytes"`
}

// Estimate sets the rates from what was moved in RateMillis, and how long the rest takes at these rates. By
// bytes it is better than by items, which differ in size.
func (d *Drain) Estimate(moved, bytes int64) {
	if d.RateMillis > 0 {
		d.MovedPerSecond, d.BytesPerSecond = float64(moved)*1000/float64(d.RateMillis), float64(bytes)*1000/float64(d.RateMillis)
	}
	window := fmt.Sprintf("the last %d s", max(d.RateMillis/1000, 1))
	switch items := d.Left.Items(); {
	case items == 0 && d.Left.Attempts == 0:
		d.Basis = "nothing is left"
		return
	case items == 0:
		d.Basis = "only attempts are left, and how long they run is not known"
		return
	case moved == 0:
		d.Basis = "nothing was moved in " + window
		return
	case bytes > 0 && d.Left.Bytes > 0:
		d.LeftMillis, d.Basis = int64(float64(d.Left.Bytes)*1000/d.BytesPerSecond), "at the bytes per second of "+window
	default:
		d.LeftMillis, d.Basis = int64(float64(items)*1000/d.MovedPerSecond), "at the outputs and checkpoints per second of "+window
	}
	d.LeftMillis = max(d.LeftMillis, 1)
	if d.Left.Attempts > 0 {
		d.Basis += ", without what the running attempts will leave"
	}
}

// Text says how far the draining is, for the command line and pages.
func (d *Drain) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d moved (%s)", d.Moved, byteText(float64(d.MovedBytes)))
	switch {
	case d.BytesPerSecond > 0:
		fmt.Fprintf(&b, ", %s/s", byteText(d.BytesPerSecond))
	case d.MovedPerSecond > 0:
		fmt.Fprintf(&b, ", %.2g/s", d.MovedPerSecond)
	}
	if d.LeftMillis > 0 {
		fmt.Fprintf(&b, "; about %v left, %s", (time.Duration(d.LeftMillis) * time.Millisecond).Round(time.Second), d.Basis)
	} else if d.Basis != "" {
		b.WriteString("; " + d.Basis)
	}
	return b.String()
}

// byteText formats a number of bytes.
func byteText(n float64) string {
	value, unit := size.Scale(n)
	return fmt.Sprintf("%.3g %s", value, unit)
}
