package paper

import (
	"slices"

	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim/results"
)

// pooled returns the values of all repetitions in one list. A distribution over all
// repetitions weighs each of them equally.
func pooled(all []Repeat, of func(Repeat) []float64) (values []float64) {
	for _, r := range all {
		values = append(values, of(r)...)
	}
	return values
}

// cdfs returns a picture of distributions at a point, one for each arm. Values of all repetitions
// are pooled.
func cdfs(axes draw.Axes, all []Repeat, arms []string, point string, of func(*Outcome) []float64) *draw.Figure {
	var samples []draw.Sample
	for _, arm := range arms {
		samples = append(samples, draw.Sample{Name: arm, Values: pooled(all, func(r Repeat) []float64 { return of(r.At(arm, point)) })})
	}
	return draw.CDF(axes, samples...)
}

// curves returns a picture of a number at all points, one curve for each arm, with the
// intervals over all repetitions. A point is the median of all repetitions.
func curves(axes draw.Axes, all []Repeat, arms []string, points []Point, of func(*Outcome) float64) *draw.Figure {
	var lines []draw.Line
	for _, arm := range arms {
		line := draw.Line{Name: arm}
		for _, p := range points {
			s := results.SpreadOf(pooled(all, func(r Repeat) []float64 { return []float64{of(r.At(arm, p.Name))} }))
			line.Points = append(line.Points, draw.Point{X: p.Value, Y: s.Median, Low: s.Low, High: s.High})
		}
		lines = append(lines, line)
	}
	return draw.Lines(axes, lines...)
}

// bars returns a picture of numbers in groups, one bar for each arm. The height is the
// median of all repetitions, with its interval.
func bars(axes draw.Axes, all []Repeat, arms, groups []string, of func(r Repeat, arm, group string) float64) *draw.Figure {
	var series []draw.Bar
	for _, arm := range arms {
		bar, ran := draw.Bar{Name: arm}, false
		for _, group := range groups {
			s := results.SpreadOf(pooled(all, func(r Repeat) []float64 { return []float64{of(r, arm, group)} }))
			bar.Values = append(bar.Values, draw.Value{Y: s.Median, Low: s.Low, High: s.High})
			ran = ran || s.N > 0
		}
		if ran { // otherwise the arm was left out
			series = append(series, bar)
		}
	}
	return draw.Bars(axes, groups, series...)
}

// stacked returns a picture of slot usage over time, without users that never have a slot.
// Each time at which any of them changes is a time of all areas.
func stacked(axes draw.Axes, names []string, of map[string]steps) *draw.Figure {
	var times []float64
	for _, s := range of {
		for _, step := range s {
			times = append(times, step.from)
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var areas []draw.Area
	for _, name := range names {
		area := draw.Area{Name: name}
		for _, t := range times {
			area.Values = append(area.Values, of[name].at(t))
		}
		areas = append(areas, area)
	}
	return draw.Areas(axes, times, areas...)
}
