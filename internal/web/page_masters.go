package web

import (
	"net/http"
	"slices"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// writeBar is a bar of the histogram of writes to a master's log, in units of its picture.
type writeBar struct {
	apidoc.WriteBin
	X, Y, Height int
}

// Text says which writes the bar counts.
func (b writeBar) Text() string {
	if b.BelowMicros == 0 {
		return "longer"
	}
	return "below " + microsText(b.BelowMicros)
}

const writeBarHeight = 40

// writeBars returns the histogram without the empty bins at its ends.
func writeBars(l *apidoc.LogWrites) (bars []writeBar) {
	if l == nil {
		return nil
	}
	first, last, highest := len(l.Histogram), -1, int64(1)
	for i, b := range l.Histogram {
		if b.Writes > 0 {
			first, last, highest = min(first, i), i, max(highest, b.Writes)
		}
	}
	for i := first; i <= last; i++ {
		b := writeBar{WriteBin: l.Histogram[i], X: 14 * (i - first)}
		b.Height = int((b.Writes*writeBarHeight + highest - 1) / highest)
		b.Y = writeBarHeight - b.Height
		bars = append(bars, b)
	}
	return bars
}

func showMasters(c *call) error {
	masters := read(c, docs.Masters, docs.No{})
	type row struct {
		apidoc.Master
		Forms   []Form
		Profile *profileForm
		Bins    []writeBar
	}
	var rows []row
	for _, m := range masters.Masters {
		r := row{Master: m, Bins: writeBars(m.LogWrites)}
		if m.State != "unreachable" {
			r.Profile = newProfileForm("master", m.ID)
		}
		switch {
		case m.ID == masters.Leader:
		case m.State == "follower" && !m.NonVoter:
			r.Forms = formsOn(docs.ActionsOn("master", "add"), m.ID, nil)
		default:
			r.Forms = formsOn(docs.ActionsOn("master", "add", "transfer"), m.ID, nil)
		}
		rows = append(rows, r)
	}
	return c.render(http.StatusOK, "masters", "Masters", struct {
		apidoc.Masters
		Rows    []row
		Written bool // there is a histogram
	}{masters, rows, slices.ContainsFunc(rows, func(r row) bool { return r.Bins != nil })}, Command{"all masters", "hammr master status"}, Command{"another master", "hammr master add ID HOST:PORT"})
}
