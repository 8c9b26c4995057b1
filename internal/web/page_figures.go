package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/web/analysis"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sched"
)

// measureNames are what users call the measures.
var measureNames = map[string]string{"bytes": "output bytes", "records": "output records", "in": "input records", "duration": "time"}

// skewData is the page of a job's skew.
type skewData struct {
	jobHead
	By       string // the measure
	Name     string // what users call it
	Measures []link
	Stages   []stageLink
	Stage    analysis.StageSkew
	Plots    []*draw.Plot
}

// stageLink is a stage in the list of stages.
type stageLink struct {
	analysis.StageSkew
	URL  string
	Here bool
}

// Value formats a value of the measure.
func (d *skewData) Value(v int64) string {
	switch d.By {
	case "bytes":
		return bytesText(v)
	case "duration":
		return durationText(v)
	}
	return countText(v)
}

func showSkew(c *call) error {
	v := &view{call: c}
	d := &skewData{jobHead: c.jobHead(), By: c.params["by"], Name: measureNames[c.params["by"]]}
	skew := analysis.SkewOf(c.columns(), d.ID, d.By)
	for _, m := range analysis.Measures {
		d.Measures = append(d.Measures, link{measureNames[m], v.With("by", m)})
	}
	at := slices.IndexFunc(skew.Stages, func(s analysis.StageSkew) bool { return s.Stage == c.params["stage"] })
	switch {
	case at < 0 && c.params["stage"] != "":
		c.reject(fmt.Errorf("job %s has no stage %.40q: %w", d.ID, c.params["stage"], docs.ErrUnknown))
	case at < 0:
		for i, s := range skew.Stages {
			if at < 0 || s.Ratio > skew.Stages[at].Ratio {
				at = i
			}
		}
	}
	for i, s := range skew.Stages {
		d.Stages = append(d.Stages, stageLink{s, v.With("stage", s.Stage), i == at})
	}
	if at >= 0 {
		d.Stage = skew.Stages[at]
		d.draw()
	}
	return c.render(http.StatusOK, "skew", "Skew of "+d.ID, d, Command{"the job with its partitions", fmt.Sprintf("hammr job status %s --json", shellWord(d.ID))})
}

// draw draws the pictures of the stage.
func (d *skewData) draw() {
	s, format := &d.Stage, countScale
	switch d.By {
	case "bytes":
		format = byteScale
	case "duration":
		format = durationScale
	}
	if len(s.Curve) == 0 {
		return
	}
	float := func(list []int64) (out []float64) {
		for _, v := range list {
			out = append(out, float64(v))
		}
		return out
	}
	tasks := float64(s.Tasks - s.Empty)
	curve := draw.NewPlot("Tasks sorted by "+d.Name, fmt.Sprintf("from the least to the most loaded task; the median is %s, the highest %s", d.Value(s.Median), d.Value(s.Max)),
		"tasks", d.Name, tasks, float64(s.Max), countScale, format)
	curve.Line("curve", float(s.Curve), func(i int) float64 { return tasks * float64(i) / max(1, float64(len(s.Curve)-1)) })
	curve.Line("median", []float64{float64(s.Median), float64(s.Median)}, func(i int) float64 { return tasks * float64(i) })
	d.Plots = []*draw.Plot{curve}
	if d.By != "duration" {
		d.Plots = append(d.Plots, d.scatter(format))
	}
}

// scatter draws the time of tasks against the measure. The slow machine has crosses.
func (d *skewData) scatter(format draw.Scale) *draw.Plot {
	s := &d.Stage
	var longest int64
	var normal, slow [][2]float64
	for _, p := range s.Points {
		longest = max(longest, p.Duration)
		if at := [2]float64{float64(p.Value), float64(p.Duration)}; p.Node == s.SlowNode {
			slow = append(slow, at)
		} else {
			normal = append(normal, at)
		}
	}
	text := fmt.Sprintf("%d tasks, r = %.2f", len(s.Points), s.R)
	if s.SlowNode != "" {
		text += "; crosses are tasks on " + s.SlowNode
	}
	c := draw.NewPlot("Time against "+d.Name, text, d.Name, "time", float64(s.Max), float64(longest), format, durationScale)
	c.Dots("dots", normal, false)
	c.Dots("crosses", slow, true)
	return c
}

func showPreemptions(c *call) error {
	h, id := c.history(), c.params["job"]
	explanation := read(c, docs.Explanation, docs.TaskID{Job: id})
	return c.render(http.StatusOK, "preemption", "Preemption of "+id, struct {
		jobHead
		analysis.Preemptions
		Taken []apidoc.ExplainedAttempt // with causes as the policy gives them
	}{c.jobHead(), h.Preemptions(), explanation.Taken}, Command{"why it waits, and which slots were taken", "hammr job explain " + shellWord(id)})
}

// localityData is the page of a job's locality.
type localityData struct {
	jobHead
	analysis.Locality
	Plots  []*draw.Plot
	Waited int64 // ms in which the job waited for slots nearer to its input
}

func showLocality(c *call) error {
	d := &localityData{jobHead: c.jobHead(), Locality: analysis.LocalityOf(c.columns())}
	for i := range d.Stages {
		if d.Stages[i].Reads {
			d.Plots = append(d.Plots, placesPlot(&d.Stages[i]))
		}
	}
	for _, w := range c.explain(d.ID, "").Waits {
		if w.Class == sched.WaitLocality.String() {
			d.Waited = w.Millis
		}
	}
	return c.render(http.StatusOK, "locality", "Locality of "+d.ID, d, Command{"its counters of local tasks", "hammr job counters " + shellWord(d.ID)})
}

// placesPlot draws where the tasks of a stage started over time.
func placesPlot(s *analysis.StageLocality) *draw.Plot {
	highest := 0.
	layers := make([][]float64, 4)
	for i := range layers {
		layers[i] = make([]float64, len(s.Times))
	}
	base := make([]float64, len(s.Times))
	for i, t := range s.Times {
		for place := range 3 {
			layers[place][i] = float64(t.Tasks[place])
		}
		highest = max(highest, float64(t.Tasks[0]+t.Tasks[1]+t.Tasks[2]))
	}
	length := s.Times[len(s.Times)-1].At - s.Times[0].At
	c := draw.NewPlot("Starts of "+s.Stage+" over time", "by place: node at the bottom, then rack, then other", "time since the first start", "tasks", float64(max(length, 1)), highest, durationScale, countScale)
	for place, class := range []string{"place-node", "place-rack", "place-other"} {
		c.Bars(class, slices.Clone(base), layers[place])
		for i := range base {
			base[i] += layers[place][i]
		}
	}
	return c
}
