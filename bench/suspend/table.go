package suspend

import (
	"cmp"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
)

// Arm says what happened to the suspended task's memory.
func (s Sample) Arm() string {
	if s.Pressed {
		return "swapped"
	}
	return "kept"
}

// Cost is the median of the samples of one footprint in one arm, in s.
type Cost struct {
	Footprint       int64 // bytes
	Arm             string
	Suspend, Resume results.Spread
	Rate            float64 // bytes/s that were swapped, out and in; 0 of none
}

// CostsOf returns the medians, by arm and footprint. Samples need no order. The rate counts
// both directions: the footprint is written once and read once.
func CostsOf(samples []Sample) (costs []Cost) {
	for g, list := range tables.Groups(samples, func(s Sample) Sample { return Sample{Footprint: s.Footprint, Pressed: s.Pressed} }) {
		var suspend, resume []float64
		for _, s := range list {
			suspend, resume = append(suspend, s.Suspend().Seconds()), append(resume, s.Resume().Seconds())
		}
		c := Cost{Footprint: g.Footprint, Arm: g.Arm(), Suspend: results.SpreadOf(suspend), Resume: results.SpreadOf(resume)}
		if both := c.Suspend.Median + c.Resume.Median; g.Pressed && both > 0 {
			c.Rate = 2 * float64(g.Footprint) / both
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Arm, b.Arm), cmp.Compare(a.Footprint, b.Footprint))
	})
	return costs
}

// Results has a line for each sample, with times in ms and sizes in MiB, and the costs.
func Results(samples []Sample, costs []Cost) tables.Results {
	r := tables.Results{
		Samples: tables.New("footprint_mib", "arm", "swapped_mib", "stop_ms|%.3f", "fill_alone_ms|%.3f", "fill_beside_ms|%.3f", "touch_before_ms|%.3f",
			"touch_after_ms|%.3f", "suspend_ms|%.3f", "resume_ms|%.3f"),
		Summary: tables.New("ARM|%s", "FOOTPRINT|%d MiB", "SUSPEND|%.3f s", "RESUME|%.3f s", "BOTH|%.3f s", "SWAP RATE|%.0f MB/s"),
	}
	for _, s := range samples {
		line := []any{s.Footprint >> 20, s.Arm(), s.Swapped >> 20}
		for _, d := range []time.Duration{s.Stop, s.Alone, s.Beside, s.Before, s.After, s.Suspend(), s.Resume()} {
			line = append(line, float64(d)/float64(time.Millisecond)) // a stop takes microseconds
		}
		r.Samples.Add(line...)
	}
	for _, c := range costs {
		rate := any("-")
		if c.Rate > 0 {
			rate = c.Rate / 1e6
		}
		r.Summary.Add(c.Arm, c.Footprint>>20, c.Suspend.Median, c.Resume.Median, c.Suspend.Median+c.Resume.Median, rate)
	}
	return r
}

// Draw returns the picture of the costs against the footprint, as Fig. 8 of HFSP's paper. The
// horizontal axis is in GiB, as in the paper.
func Draw(costs []Cost) *draw.Figure {
	var lines []draw.Line
	for _, arm := range []string{"swapped", "kept"} {
		for name, of := range map[string]func(Cost) results.Spread{
			"suspend": func(c Cost) results.Spread { return c.Suspend }, "resume": func(c Cost) results.Spread { return c.Resume },
		} {
			line := draw.Line{Name: name + ", " + arm}
			for _, c := range costs {
				if c.Arm == arm {
					y := of(c)
					line.Points = append(line.Points, draw.Point{X: float64(c.Footprint) / (1 << 30), Y: y.Median, Low: y.Low, High: y.High})
				}
			}
			if len(line.Points) > 0 {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(a, b draw.Line) int { return cmp.Compare(a.Name, b.Name) })
	return draw.Lines(draw.Axes{Title: "What suspending a task costs", X: "memory of the task [GiB]", Y: "time [s]"}, lines...)
}
