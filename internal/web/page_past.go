package web

import (
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/web/analysis"
	"github.com/hammr/hammr/internal/web/draw"
)

// jobPast is what the page of a job shows of its tasks over time.
type jobPast struct {
	Usage    *draw.Plot        // slots over time; nil before the first task has started
	Forecast analysis.Forecast // of a job that runs
	Phases   []phasePart
}

// phasePart is a phase in the bar of phases. Sizes are in per cent of the bar.
type phasePart struct {
	report.Phase
	X, Width float64
}

// usageParts is the number of parts of the chart of slots over time.
const usageParts = 80

// pastOf returns what the page of a job shows of its tasks over time, and the bytes that each stage has
// written, by its code. A job whose tasks are not known any more has less.
func (c *call) pastOf(r *report.Report) (past jobPast, written map[string]int64) {
	id, running := c.params["job"], r.State == report.Running
	if kept, known := c.pasts.get(id); known && c.cfg.Now().Before(kept.until) && running && c.isFragment() {
		kept.past.Phases = phaseParts(r.Phases)
		return kept.past, kept.written
	}
	past.Phases = phaseParts(r.Phases)
	a, err := docs.Columns.Read(c.ctx, c.cfg.Source, docs.JobID{Job: id})
	if errors.Is(err, docs.ErrUnknown) {
		return past, nil
	}
	columns := use(c, a, err)
	if err != nil {
		return past, nil
	}
	usage := analysis.UsageOf(columns, a.At.UnixMilli(), usageParts)
	past.Usage, written = usagePlot(usage), bytesWritten(columns)
	if running {
		past.Forecast = analysis.ForecastOf(columns)
	}
	if running && usage.Step > 0 {
		bar := time.Duration(usage.Step) * time.Millisecond
		c.pasts.set(id, keptPast{past, written, c.cfg.Now().Add(min(max(bar, minPastAge), maxPastAge))})
	}
	return past, written
}

// keptPast is what live pages of a running job show of its tasks over time, and the bytes written by each stage, since
// making it takes the numbers of all tasks. It is good for as long as a bar of the chart lasts, within bounds.
type keptPast struct {
	past    jobPast
	written map[string]int64
	until   time.Time
}

const (
	minPastAge = 2 * time.Second
	maxPastAge = 5 * time.Second
	maxPasts   = 1024
)

// bytesWritten returns the bytes that the finished tasks of each stage have written, by its code.
func bytesWritten(c *apidoc.TaskColumns) map[string]int64 {
	written := make(map[string]int64)
	for i, n := range c.Bytes {
		if c.End[i] > 0 {
			written[c.Stages[c.Stage[i]]] += n
		}
	}
	return written
}

// Left says how long the job takes still, and what that is based on.
func (p *jobPast) Left() string {
	f, slots := &p.Forecast, "slots"
	if f.Slots == 1 {
		slots = "slot"
	}
	switch {
	case f.Unknown != "":
		return "not known: " + f.Unknown
	case f.High == 0:
		return "little: its last tasks have run for longer than most of those that have finished"
	case f.Low == 0 || durationText(f.Low) == durationText(f.High):
		return fmt.Sprintf("up to %s if it keeps its %d %s (by the p75 of finished tasks)", durationText(f.High), f.Slots, slots)
	}
	return fmt.Sprintf("%s to %s if it keeps its %d %s (by p25 and p75 of finished tasks)", durationText(f.Low), durationText(f.High), f.Slots, slots)
}

// phaseParts places the phases in a bar.
func phaseParts(phases []report.Phase) (parts []phasePart) {
	var all, x float64
	for _, p := range phases {
		all += max(0, p.Seconds)
	}
	for _, p := range phases {
		part := phasePart{Phase: p, X: x}
		if all > 0 {
			part.Width = 100 * max(0, p.Seconds) / all
		}
		parts, x = append(parts, part), x+part.Width
	}
	return parts
}

// usagePlot draws the slots that a job had over time; nil if it had none.
func usagePlot(u analysis.Usage) *draw.Plot {
	if u.Step == 0 {
		return nil
	}
	highest := 0.
	for i := range u.Maps {
		highest = max(highest, u.Maps[i]+u.Reduces[i])
	}
	c := draw.NewPlot("Slots over time", fmt.Sprintf("at most %.0f; map slots at the bottom, reduce slots on them; attempts that do not count any more are on the timeline", highest),
		"time since the first start", "slots", float64(int64(len(u.Maps))*u.Step), highest, durationScale, countScale)
	c.Bars("place-node", make([]float64, len(u.Maps)), u.Maps)
	c.Bars("place-rack", u.Maps, u.Reduces)
	return c
}
