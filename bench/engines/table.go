package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/tables"
)

// of returns the times of the runs of work by an engine that have not failed, and the last failure.
func (s *Samples) of(work, engine string) (times []float64, failure string) {
	for _, r := range s.Runs {
		switch {
		case r.Work != work || r.Engine != engine:
		case r.Failure != "":
			failure = r.Failure
		default:
			times = append(times, r.Seconds)
		}
	}
	return times, failure
}

// Table returns the median of each work by each engine with its 95 % interval, of few runs their
// range, and the ratio to the first engine. A ratio above 1 is a longer time.
func (c *Comparison) Table(s *Samples) *tables.Table {
	t := tables.New("WORK", "ENGINE", "RUNS|%d", "SECONDS|%.1f", "FROM|%.1f", "TO|%.1f", "RATIO|%.2f", "NOTE")
	for _, work := range c.Work {
		var first float64
		for n, engine := range c.Engines {
			times, failure := s.of(work, engine)
			if failure != "" {
				failure = "failed; see " + SamplesFile
			}
			if len(times) == 0 {
				t.Add(work, engine, 0, "–", "–", "–", "–", failure)
				continue
			}
			spread := results.SpreadOf(times)
			if n == 0 {
				first = spread.Median
			}
			ratio := any("–")
			if first > 0 {
				ratio = spread.Median / first
			}
			t.Add(work, engine, spread.N, spread.Median, spread.Low, spread.High, ratio, failure)
		}
	}
	return t
}

// picture draws the medians as bars, with their intervals.
func (c *Comparison) picture(s *Samples) *draw.Figure {
	var bars []draw.Bar
	for _, engine := range c.Engines {
		b := draw.Bar{Name: engine}
		for _, work := range c.Work {
			var v draw.Value
			if times, _ := s.of(work, engine); len(times) > 0 {
				spread := results.SpreadOf(times)
				v = draw.Value{Y: spread.Median, Low: spread.Low, High: spread.High}
			}
			b.Values = append(b.Values, v)
		}
		bars = append(bars, b)
	}
	return draw.Bars(draw.Axes{Title: "The same work on the same machines", Y: "seconds"}, c.Work, bars...)
}

// Write writes the table as compare.md, the runs as compare.csv, and the picture. what says on which machines.
func (c *Comparison) Write(s *Samples, what string) error {
	runs := tables.New("work", "engine", "run|%d", "seconds|%.3f", "failure")
	for _, r := range s.Runs {
		runs.Add(r.Work, r.Engine, r.Run, r.Seconds, r.Failure)
	}
	report, errMD := os.Create(filepath.Join(c.Dir, "compare.md"))
	samples, errCSV := os.Create(filepath.Join(c.Dir, "compare.csv"))
	if err := errors.Join(errMD, errCSV); err != nil {
		return err
	}
	defer report.Close()
	defer samples.Close()
	fmt.Fprintf(report, "# The same work on the same machines\n\n%s\n", what)
	for _, reason := range s.LeftOut {
		fmt.Fprintf(report, "- %s\n", reason)
	}
	fmt.Fprintf(report, "- inputs of %d bytes each, seed %d; %d rounds of pagerank and kmeans\n", s.Size, s.Seed, s.Rounds)
	for _, w := range bench.SharedWork(s.Seed) {
		fmt.Fprintf(report, "- %s: %s\n", w.Name, w.Suite)
	}
	fmt.Fprint(report, "\n![Seconds of each work by each engine](compare.svg)\n\n")
	return errors.Join(c.Table(s).Markdown(report), runs.CSV(samples), c.picture(s).Save(c.Dir, "compare"))
}
