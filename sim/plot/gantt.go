package plot

import (
	"fmt"
	"math"

	gplot "gonum.org/v1/plot"
)

// Span is a time in which a lane is in use.
type Span struct {
	Lane     int // index of the lane
	From, To float64
	Name     string // what uses it; each name has a colour
}

// laneFill is the fraction of a lane's height that spans fill.
const laneFill = 0.86

// Gantt draws which name uses which lane over time. Lanes, such as slots of machines, go
// from top to bottom; a lane with an empty name has no label. Axes are never logarithmic.
func Gantt(a Axes, lanes []string, spans ...Span) *Figure {
	a.LogX, a.LogY = false, false
	var names []string
	seen := make(map[string]bool)
	for _, s := range spans {
		if !seen[s.Name] {
			seen[s.Name] = true
			names = append(names, s.Name)
		}
	}
	return singlePanel(colourLegend, names, func(of map[string]lineStyle) (*gplot.Plot, error) {
		p := a.panel()
		var all boxes
		for _, s := range spans {
			if s.Lane < 0 || s.Lane >= len(lanes) || !(s.From <= s.To) || math.IsInf(s.To-s.From, 0) {
				return nil, fmt.Errorf("plot: %s uses lane %d of %d from %g to %g", s.Name, s.Lane, len(lanes), s.From, s.To)
			}
			middle := float64(len(lanes) - 1 - s.Lane)
			all = append(all, box{s.From, s.To, middle - laneFill/2, middle + laneFill/2, of[s.Name].colour})
		}
		p.Add(all)
		a.finish(p)
		p.Y.Min, p.Y.Max = -0.5, float64(len(lanes))-0.5
		p.Y.Tick.Marker = laneTicks(lanes)
		p.Y.Tick.Length = 0
		return p, nil
	})
}

func laneTicks(lanes []string) gplot.Ticker {
	var ticks gplot.ConstantTicks
	for i, name := range lanes {
		if name != "" {
			ticks = append(ticks, gplot.Tick{Value: float64(len(lanes) - 1 - i), Label: name})
		}
	}
	return ticks
}
