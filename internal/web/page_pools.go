package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// ranges are the times that charts show, with the length of their intervals.
var ranges = map[string]struct{ span, step time.Duration }{
	"10min": {10 * time.Minute, 5 * time.Second}, "2h": {2 * time.Hour, time.Minute}, "24h": {24 * time.Hour, 10 * time.Minute},
}

// rangeParam is the time that the charts of a page show.
var rangeParam = docs.Param{Name: "range", Enum: []string{"10min", "2h", "24h"}, Doc: "time that charts show; default: as far back as there are samples"}

// PoolColumns are the columns by which pools can be sorted. The first identifies a pool, and puts
// pools below their parents.
var PoolColumns = []docs.Column[apidoc.Queue]{
	{Name: "name", Heading: "Pool", Text: func(q apidoc.Queue) string { return strings.ReplaceAll(q.Name, ".", "\x01") }},
	{Name: "state", Heading: "State", Text: func(q apidoc.Queue) string { return q.State }},
	{Name: "jobsRunning", Heading: "Jobs that run", Right: true, Number: func(q apidoc.Queue) float64 { return float64(q.Jobs.Running) }},
	{Name: "jobsWaiting", Heading: "Jobs that wait", Right: true, Number: func(q apidoc.Queue) float64 { return float64(q.Jobs.Waiting) }},
	{Name: "running", Heading: "Slots in use", Number: func(q apidoc.Queue) float64 { return float64(q.Running.Map + q.Running.Reduce) }},
	{Name: "waiting", Heading: "Slots waited for", Number: func(q apidoc.Queue) float64 { return float64(q.Waiting.Map + q.Waiting.Reduce) }},
	{Name: "share", Heading: "Fair share", Number: func(q apidoc.Queue) float64 { return allotment(q).Share.Map + allotment(q).Share.Reduce }},
	{Name: "weight", Heading: "Weight", Right: true, Number: func(q apidoc.Queue) float64 { return allotment(q).Weight }},
	{Name: "min", Heading: "Minimum", Number: func(q apidoc.Queue) float64 { return float64(allotment(q).Min.Map + allotment(q).Min.Reduce) }},
	{Name: "max", Heading: "Maximum", Number: func(q apidoc.Queue) float64 { return float64(allotment(q).Max.Map + allotment(q).Max.Reduce) }},
}

// allotment returns what a pool is configured to get, the zero value if the policy has no shares.
func allotment(q apidoc.Queue) apidoc.Allotment {
	if q.Allotment == nil {
		return apidoc.Allotment{}
	}
	return *q.Allotment
}

// poolRow is a pool in a table.
type poolRow struct {
	apidoc.Queue
	Depth int    // pools above it
	Label string // its name without that of its parent
}

func newPoolRow(q apidoc.Queue, all []apidoc.Queue) poolRow {
	r := poolRow{Queue: q, Label: strings.TrimPrefix(strings.TrimPrefix(q.Name, q.Parent), ".")}
	for parent := q.Parent; parent != ""; r.Depth++ {
		i := slices.IndexFunc(all, func(p apidoc.Queue) bool { return p.Name == parent })
		if i < 0 {
			break
		}
		parent = all[i].Parent
	}
	return r
}

func showPools(c *call) error {
	pools := read(c, docs.Pools, docs.No{})
	rows, total, next, err := docs.PageOf(pools, func(*apidoc.Queue) bool { return true }, PoolColumns, pageOf(c.params), "name", "pools")
	if err != nil {
		return err
	}
	listed := make([]poolRow, len(rows))
	for i, q := range rows {
		listed[i] = newPoolRow(q, pools)
		if strings.TrimPrefix(c.params["sort"], "-") != "name" {
			listed[i].Depth, listed[i].Label = 0, q.Name
		}
	}
	table := newTable(c, rows, total, nil, next, PoolColumns)
	table.CSV = ""
	return c.render(http.StatusOK, "pools", "Pools", struct {
		tableData[apidoc.Queue]
		Listed []poolRow
	}{table, listed}, Command{"all pools", "hammr queue list"})
}

// slotHistory is the use of slots over the time that a page shows.
type slotHistory struct {
	apidoc.Samples
	Ranges []Tab
}

// samples returns the samples of a page, of one pool, or of the cluster and all pools if pool is "": none if the masters cannot give any now, since the rest of
// the page is shown without them.
func (c *call) samples(pool string) (h slotHistory) {
	name := c.params["range"]
	if name == "" {
		name = c.defaultRange()
	}
	span := ranges[name]
	step := span.step.Milliseconds()
	to := (c.cfg.Now().UnixMilli() + step - 1) / step * step
	q := docs.SampleQuery{From: to - span.span.Milliseconds(), Step: step / 1000}
	if pool == "" {
		h.Samples = optional(c, docs.Samples, q)
	} else {
		h.Samples = optional(c, docs.PoolSamples, docs.PoolSampleQuery{Pool: pool, SampleQuery: q})
	}
	h.From, h.To = to-span.span.Milliseconds(), to
	h.Step = max(h.Step, step)
	v := &view{call: c}
	for _, r := range rangeParam.Enum {
		h.Ranges = append(h.Ranges, Tab{v.With("range", r), r, r == name})
	}
	return h
}

// defaultRange returns the shortest range that shows all samples of the cluster: in a day, those of one
// that has just been started cannot be seen.
func (c *call) defaultRange() string {
	const step = time.Minute
	now := c.cfg.Now()
	series := optional(c, docs.Samples, docs.SampleQuery{From: now.Add(-ranges["24h"].span).UnixMilli(), Step: int64(step.Seconds())}).Series
	if len(series) == 0 {
		return "24h"
	}
	first := now
	if points := series[0].Points; len(points) > 0 {
		first = time.UnixMilli(points[0].At)
	}
	for _, name := range rangeParam.Enum {
		if now.Sub(first) <= ranges[name].span {
			return name
		}
	}
	return "24h"
}

// spec returns a chart of the history without values, with the times of a series.
func (h *slotHistory) spec(id, title string, points []apidoc.Sample) chartSpec {
	s := chartSpec{ID: id, Title: title, From: h.From, To: h.To, Step: h.Step}
	for i := range points {
		s.Times = append(s.Times, points[i].At)
	}
	return s
}

// valuesOf returns a value of each sample.
func valuesOf(points []apidoc.Sample, of func(*apidoc.Sample) float64) []float64 {
	values := make([]float64, len(points))
	for i := range points {
		values[i] = of(&points[i])
	}
	return values
}

// maxShownPools bounds the pools of a chart. The others are one area.
const maxShownPools = 6

// useChart is the chart of the slots that pools have used, with the slots of the cluster. It is nil
// without samples.
func (h *slotHistory) useChart() *Chart {
	if len(h.Series) == 0 || len(h.Series[0].Points) == 0 {
		return nil
	}
	all := h.Series[0].Points
	s := h.spec("use", "Slots in use by pool", all)
	place := make(map[int64]int, len(all))
	for i, at := range s.Times {
		place[at] = i
	}
	for _, series := range h.Series[1:] {
		values := make([]float64, len(all))
		for i := range series.Points {
			if at, known := place[series.Points[i].At]; known {
				values[at] = series.Points[i].Running.Map + series.Points[i].Running.Reduce
			}
		}
		s.Areas = append(s.Areas, chartSeries{series.Pool, values})
	}
	s.Areas = largest(s.Areas, maxShownPools)
	s.Lines = []chartSeries{{"slots of the cluster", valuesOf(all, func(p *apidoc.Sample) float64 { return p.Share.Map + p.Share.Reduce })}}
	chart := newChart(s)
	return &chart
}

// largest returns the series with the largest sums in the order of their names, and the sum of the
// others.
func largest(all []chartSeries, most int) []chartSeries {
	if len(all) <= most {
		return all
	}
	sum := func(s chartSeries) (n float64) {
		for _, v := range s.Values {
			n += v
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b chartSeries) int { return cmp.Compare(sum(b), sum(a)) })
	rest := chartSeries{"other pools", make([]float64, len(all[0].Values))}
	for _, s := range all[most:] {
		for i, v := range s.Values {
			rest.Values[i] += v
		}
	}
	slices.SortFunc(all[:most], func(a, b chartSeries) int { return strings.Compare(a.Name, b.Name) })
	return append(slices.Clone(all[:most]), rest)
}

// poolCharts are the charts of a pool: its use of each kind of slot, and its share.
func (h *slotHistory) poolCharts() (charts []Chart) {
	if len(h.Series) == 0 || len(h.Series[0].Points) == 0 {
		return nil
	}
	points := h.Series[0].Points
	for _, kind := range []struct {
		name string
		of   func(apidoc.Share) float64
	}{{"map", func(s apidoc.Share) float64 { return s.Map }}, {"reduce", func(s apidoc.Share) float64 { return s.Reduce }}} {
		s := h.spec(kind.name, fmt.Sprintf("Its %s slots", kind.name), points)
		s.Areas = []chartSeries{{"in use", valuesOf(points, func(p *apidoc.Sample) float64 { return kind.of(p.Running) })}}
		s.Lines = []chartSeries{
			{"fair share", valuesOf(points, func(p *apidoc.Sample) float64 { return kind.of(p.Share) })},
			{"waited for", valuesOf(points, func(p *apidoc.Sample) float64 { return kind.of(p.Waiting) })},
		}
		for i := range points {
			maps, reduces := points[i].Starving()
			s.Marked = append(s.Marked, maps && kind.name == "map" || reduces && kind.name == "reduce")
		}
		s.Mark = "below its share while tasks waited"
		charts = append(charts, newChart(s))
	}
	return charts
}

// sums adds up the counts of a series. starving is for how long the pool was below its share, ms.
func (h *slotHistory) sums() (sum apidoc.Sample, starving int64) {
	if len(h.Series) == 0 {
		return sum, 0
	}
	for i := range h.Series[0].Points {
		p := &h.Series[0].Points[i]
		sum.Add(p)
		if maps, reduces := p.Starving(); maps || reduces {
			starving += h.Step
		}
	}
	return sum, starving
}

func showPool(c *call) error {
	q := wanted(c, docs.Pool)
	if c.err != nil {
		return c.err
	}
	jobs := read(c, docs.Jobs, docs.JobQuery{Pool: q.Name, States: []string{"PREP", "RUNNING"}, Page: docs.Page{Limit: 20}})
	h := c.samples(q.Name)
	sum, starving := h.sums()
	return c.render(http.StatusOK, "pool", "Pool "+q.Name, struct {
		apidoc.Queue
		slotHistory
		poolLedger
		Charts   []Chart
		Sum      apidoc.Sample
		Starving int64
		Active   docs.JobPage
	}{q, h, c.poolLedger(q.Name), h.poolCharts(), sum, starving, jobs}, Command{"all pools", "hammr queue list"}, whatIf("pool", q.Name))
}
