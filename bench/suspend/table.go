package suspend

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hammr/hammr/sim/plot"
)

// Arm says what happened to the suspended task's memory.
func (s Sample) Arm() string {
	if s.Pressed {
		return "swapped"
	}
	return "kept"
}

// WriteCSV writes a line for each sample, with a heading. Times are in ms, sizes in MiB.
func WriteCSV(w io.Writer, samples []Sample) error {
	lines := [][]string{{"footprint_mib", "arm", "swapped_mib", "stop_ms", "fill_alone_ms", "fill_beside_ms", "touch_before_ms", "touch_after_ms", "suspend_ms", "resume_ms"}}
	for _, s := range samples {
		line := []string{strconv.FormatInt(s.Footprint>>20, 10), s.Arm(), strconv.FormatInt(s.Swapped>>20, 10)}
		for _, d := range []time.Duration{s.Stop, s.Alone, s.Beside, s.Before, s.After, s.Suspend(), s.Resume()} {
			line = append(line, strconv.FormatFloat(millis(d), 'f', 3, 64))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// millis keeps fractions: a stop takes microseconds.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Cost is the median of the samples of one footprint in one arm, with the least and
// the most, in s.
type Cost struct {
	Footprint       int64 // bytes
	Pressed         bool
	Suspend, Resume [3]float64 // median, least, most
	Rate            float64    // bytes/s that were swapped, out and in; 0 of none
}

// CostsOf returns the medians, by arm and footprint. Samples need no order. The rate counts
// both directions: the footprint is written once and read once.
func CostsOf(samples []Sample) (costs []Cost) {
	type group struct {
		pressed   bool
		footprint int64
	}
	of := make(map[group][]Sample)
	for _, s := range samples {
		g := group{s.Pressed, s.Footprint}
		of[g] = append(of[g], s)
	}
	for g, list := range of {
		c := Cost{Footprint: g.footprint, Pressed: g.pressed}
		c.Suspend, c.Resume = spread(list, Sample.Suspend), spread(list, Sample.Resume)
		if both := c.Suspend[0] + c.Resume[0]; g.pressed && both > 0 {
			c.Rate = 2 * float64(g.footprint) / both
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Sample().Arm(), b.Sample().Arm()), cmp.Compare(a.Footprint, b.Footprint))
	})
	return costs
}

// Sample returns a sample that has the same arm as the samples of the cost.
func (c Cost) Sample() Sample { return Sample{Footprint: c.Footprint, Pressed: c.Pressed} }

// spread returns the median, the least and the greatest value, in s, of at least one sample.
func spread(samples []Sample, of func(Sample) time.Duration) [3]float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s).Seconds())
	}
	slices.Sort(values)
	n := len(values)
	return [3]float64{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}
}

// WriteTable writes the costs for people.
func WriteTable(w io.Writer, costs []Cost) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ARM\tFOOTPRINT\tSUSPEND\tRESUME\tBOTH\tSWAP RATE\t")
	for _, c := range costs {
		rate := "-"
		if c.Rate > 0 {
			rate = fmt.Sprintf("%.0f MB/s", c.Rate/1e6)
		}
		fmt.Fprintf(t, "%s\t%d MiB\t%.3f s\t%.3f s\t%.3f s\t%s\t\n", c.Sample().Arm(), c.Footprint>>20, c.Suspend[0], c.Resume[0], c.Suspend[0]+c.Resume[0], rate)
	}
	return t.Flush()
}

// Draw returns the picture of the costs against the footprint, as Fig. 8 of HFSP's paper. The
// horizontal axis is in GiB, as in the paper.
func Draw(costs []Cost) *plot.Figure {
	var lines []plot.Line
	for _, arm := range []string{"swapped", "kept"} {
		for name, of := range map[string]func(Cost) [3]float64{
			"suspend": func(c Cost) [3]float64 { return c.Suspend }, "resume": func(c Cost) [3]float64 { return c.Resume },
		} {
			line := plot.Line{Name: name + ", " + arm}
			for _, c := range costs {
				if c.Sample().Arm() == arm {
					y := of(c)
					line.Points = append(line.Points, plot.Point{X: float64(c.Footprint) / (1 << 30), Y: y[0], Low: y[1], High: y[2]})
				}
			}
			if len(line.Points) > 0 {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(a, b plot.Line) int { return cmp.Compare(a.Name, b.Name) })
	return plot.Lines(plot.Axes{Title: "What suspending a task costs", X: "memory of the task [GiB]", Y: "time [s]"}, lines...)
}
