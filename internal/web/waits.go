package web

import (
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// waitBar shows for how long a job, or at least one task of a stage, waited.
type waitBar struct {
	What  string
	Total int64 // ms
	Parts []waitPart
}

// waitPart is the time of a class in a bar. Sizes are in per cent of the bar.
type waitPart struct {
	apidoc.WaitTime
	X, Width float64
	Color    int // number of its colour, the same in all bars of the page
}

// waitColors is the number of colours of bars.
const waitColors = 6

// waitBars returns the bars of a job and of its stages, without those that never waited.
func waitBars(job []apidoc.WaitTime, stages []apidoc.Stage) (bars []waitBar) {
	var classes []string
	add := func(what string, waits []apidoc.WaitTime) {
		b, x := waitBar{What: what}, 0.
		for _, w := range waits {
			b.Total += w.Millis
		}
		for _, w := range waits {
			color := slices.Index(classes, w.Class)
			if color < 0 {
				color, classes = len(classes), append(classes, w.Class)
			}
			part := waitPart{w, x, 100 * float64(w.Millis) / float64(max(b.Total, 1)), color % waitColors}
			b.Parts, x = append(b.Parts, part), x+part.Width
		}
		if b.Total > 0 {
			bars = append(bars, b)
		}
	}
	add("the job", job)
	for _, s := range stages {
		add(s.Name, s.Waits)
	}
	return bars
}
