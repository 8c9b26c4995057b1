package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Measures are the numbers of tasks whose skew can be shown.
var Measures = []string{"bytes", "records", "in", "duration"}

// measure returns a column.
func measure(c *apidoc.TaskColumns, name string) []int64 {
	switch name {
	case "records":
		return c.Records
	case "in":
		return c.In
	case "duration":
		return c.Duration
	}
	return c.Bytes
}

// Skew is how unevenly the tasks of each stage are loaded, by one measure.
type Skew struct {
	By     string      `json:"by"` // one of Measures
	Stages []StageSkew `json:"stages"`
}

// StageSkew is the skew of a stage. Only finished tasks are in it; values are bytes, records or ms.
type StageSkew struct {
	Stage    string  `json:"stage"` // code, as in ids
	Type     string  `json:"type"`  // MAP or REDUCE
	Tasks    int     `json:"tasks"` // finished ones
	Empty    int     `json:"empty"` // that have the value 0; they are not in the figures below
	Sum      int64   `json:"sum"`
	Max      int64   `json:"max"`
	Median   int64   `json:"median"`
	P95      int64   `json:"p95"`
	Ratio    float64 `json:"ratio"`       // Max / Median; 0 without tasks
	Gini     float64 `json:"gini"`        // 0: all are equal, near 1: one has everything
	R        float64 `json:"correlation"` // of duration and value, by Pearson; 0 if one of them is constant
	Cause    string  `json:"cause"`       // data, machine, groups or none
	Verdict  string  `json:"verdict"`     // a sentence
	SlowNode string  `json:"slowNode,omitempty"`

	Curve     []int64     `json:"curve"`     // sorted values, at most 200, evenly chosen, the first and last among them
	Histogram []Bin       `json:"histogram"` // bins of the same width, from 0
	Lorenz    []float64   `json:"lorenz"`    // at i the share of the sum that the least loaded i % of the tasks have
	Top       []TaskSkew  `json:"top"`       // the 20 highest
	Nodes     []NodeSkew  `json:"nodes"`     // the slowest first, at most 50
	Points    []TaskPoint `json:"points"`    // at most 400, the 20 highest among them
}

// Bin is a bar of a histogram: From is in it, To is not.
type Bin struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Tasks int   `json:"tasks"`
}

// TaskSkew is a highly loaded task.
type TaskSkew struct {
	Task     string  `json:"task"` // id
	Node     string  `json:"node"`
	Value    int64   `json:"value"`
	Share    float64 `json:"share"` // of the sum
	Duration int64   `json:"duration"`
}

// NodeSkew is how fast a tasknode was.
type NodeSkew struct {
	Node     string  `json:"node"`
	Tasks    int     `json:"tasks"`
	Sum      int64   `json:"sum"`
	Duration int64   `json:"duration"` // median, ms
	Slowness float64 `json:"slowness"` // median of duration / value of its tasks, divided by the median of the other tasknodes; 0 if it is not known
}

// TaskPoint is a task of a scatter plot.
type TaskPoint struct {
	Value    int64  `json:"value"`
	Duration int64  `json:"duration"`
	Node     string `json:"node"`
}

// Bounds of a StageSkew.
const (
	maxCurve     = 200
	maxBins      = 24
	maxTop       = 20
	maxSkewNodes = 50
	maxPoints    = 400
)

// SkewOf returns the skew of all stages. job is the id of the job.
func SkewOf(c *apidoc.TaskColumns, job, by string) Skew {
	out := Skew{By: by, Stages: []StageSkew{}}
	values := measure(c, by)
	rows := make([][]int32, len(c.Stages))
	for i := range c.Stage {
		if c.End[i] > 0 {
			rows[c.Stage[i]] = append(rows[c.Stage[i]], int32(i))
		}
	}
	for s := range c.Stages {
		out.Stages = append(out.Stages, skewOfStage(c, values, rows[s], s, job, by))
	}
	return out
}

// skewOfStage returns the skew of the tasks in rows.
func skewOfStage(c *apidoc.TaskColumns, values []int64, rows []int32, stage int, job, by string) StageSkew {
	s := StageSkew{Stage: c.Stages[stage], Type: c.Types[stage], Tasks: len(rows), Curve: []int64{}, Histogram: []Bin{}, Lorenz: []float64{}, Top: []TaskSkew{}, Points: []TaskPoint{}}
	noInput := 0
	for _, i := range rows {
		if c.In[i] == 0 {
			noInput++
		}
	}
	loaded := slices.DeleteFunc(slices.Clone(rows), func(i int32) bool { return values[i] <= 0 })
	slices.SortFunc(loaded, func(a, b int32) int { return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b)) })
	s.Empty = len(rows) - len(loaded)
	s.Nodes = nodeSkews(c, values, loaded)
	if n := len(loaded); n > 0 {
		at := func(q float64) int64 { return values[loaded[int(q*float64(n-1)+.5)]] }
		s.Median, s.P95, s.Max = at(.5), at(.95), at(1)
		s.Ratio = float64(s.Max) / float64(s.Median)
		var weighted float64
		for i, row := range loaded {
			s.Sum += values[row]
			weighted += float64(i+1) * float64(values[row])
		}
		s.Gini = 2*weighted/(float64(n)*float64(s.Sum)) - float64(n+1)/float64(n)
		s.R = correlation(loaded, values, c.Duration)
		s.Curve, s.Lorenz, s.Histogram = curve(values, loaded), lorenz(values, loaded, s.Sum), histogram(values, loaded, s.Max)
		s.Top, s.Points = topTasks(c, values, loaded, s, job), points(c, values, loaded)
	}
	s.judge(by, noInput)
	return s
}

// minSlowTasks is how many tasks a tasknode must have had to be called slow: fewer may differ by chance.
const minSlowTasks = 3

// judge says what the skew is caused by. The order of the causes is that of their certainty.
func (s *StageSkew) judge(by string, noInput int) {
	unit := map[string]string{"bytes": "bytes", "records": "records", "in": "input records", "duration": "time"}[by]
	slow := slices.IndexFunc(s.Nodes, func(n NodeSkew) bool { return n.Slowness >= 2 && n.Tasks >= minSlowTasks })
	switch {
	case by != "duration" && s.R >= .7 && s.Ratio >= 3:
		s.Cause, s.Verdict = "data", fmt.Sprintf("Data skew: one task has %.1f times the %s of the median, and the time of tasks follows their %s (r = %.2f).", s.Ratio, unit, unit, s.R)
	case by != "duration" && slow >= 0:
		s.Cause, s.SlowNode = "machine", s.Nodes[slow].Node
		s.Verdict = fmt.Sprintf("Slow machine: on %s, tasks take %.1f times as long for the same %s as on other tasknodes.", s.SlowNode, s.Nodes[slow].Slowness, unit)
	case s.Type == "REDUCE" && noInput > 0:
		s.Cause, s.Verdict = "groups", fmt.Sprintf("Few groups: %d of %d reduces had no input, since there are fewer keys than reduces or they collide.", noInput, s.Tasks)
	case s.Tasks == 0:
		s.Cause, s.Verdict = "none", "No task has finished yet."
	default:
		s.Cause, s.Verdict = "none", "No cause of skew was found."
	}
}

// correlation returns Pearson's r of two columns.
func correlation(rows []int32, xs, ys []int64) float64 {
	var sx, sy float64
	for _, i := range rows {
		sx, sy = sx+float64(xs[i]), sy+float64(ys[i])
	}
	mx, my := sx/float64(len(rows)), sy/float64(len(rows))
	var xx, yy, xy float64
	for _, i := range rows {
		dx, dy := float64(xs[i])-mx, float64(ys[i])-my
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// curve returns the sorted values, or evenly chosen ones.
func curve(values []int64, sorted []int32) (out []int64) {
	n := min(len(sorted), maxCurve)
	for i := range n {
		at := len(sorted) - 1
		if n > 1 {
			at = i * (len(sorted) - 1) / (n - 1)
		}
		out = append(out, values[sorted[at]])
	}
	return out
}

// lorenz returns the Lorenz curve at 0 %, 1 %, … 100 %.
func lorenz(values []int64, sorted []int32, sum int64) []float64 {
	out := make([]float64, 101)
	part, next := 0., 0
	for p := range out {
		at := float64(p) / 100 * float64(len(sorted))
		for ; next < int(at); next++ {
			part += float64(values[sorted[next]])
		}
		out[p] = part
		if next < len(sorted) { // a part of one task
			out[p] += (at - float64(next)) * float64(values[sorted[next]])
		}
		out[p] /= float64(sum)
	}
	return out
}

// histogram counts values in bins of the same width, from 0.
func histogram(values []int64, sorted []int32, highest int64) []Bin {
	width := highest/maxBins + 1
	bins := make([]Bin, highest/width+1)
	for i := range bins {
		bins[i].From, bins[i].To = int64(i)*width, int64(i+1)*width
	}
	for _, row := range sorted {
		bins[values[row]/width].Tasks++
	}
	return bins
}

func topTasks(c *apidoc.TaskColumns, values []int64, sorted []int32, s StageSkew, job string) (top []TaskSkew) {
	for _, i := range slices.Backward(sorted[max(0, len(sorted)-maxTop):]) {
		top = append(top, TaskSkew{apidoc.TaskID(job, s.Stage, c.Number[i]), c.Nodes[c.Node[i]], values[i], float64(values[i]) / float64(s.Sum), c.Duration[i]})
	}
	return top
}

// points returns evenly chosen tasks for a scatter plot, the highest ones always.
func points(c *apidoc.TaskColumns, values []int64, sorted []int32) (list []TaskPoint) {
	add := func(i int32) { list = append(list, TaskPoint{values[i], c.Duration[i], c.Nodes[c.Node[i]]}) }
	top := min(len(sorted), maxTop)
	for _, i := range thin(sorted[:len(sorted)-top], maxPoints-maxTop) {
		add(i)
	}
	for _, i := range sorted[len(sorted)-top:] {
		add(i)
	}
	return list
}

// thin returns at most limit of the numbers, spread evenly.
func thin(numbers []int32, limit int) []int32 {
	n := len(numbers)
	if n <= limit {
		return numbers
	}
	kept := make([]int32, limit)
	for i := range kept {
		kept[i] = numbers[i*n/limit]
	}
	return kept
}

// nodeSkews returns how fast each tasknode was, compared with all others.
func nodeSkews(c *apidoc.TaskColumns, values []int64, rows []int32) []NodeSkew {
	type group struct {
		sum       int64
		durations []int64
		rates     []float64 // ms for one unit
	}
	groups := make(map[int32]*group)
	for _, i := range rows {
		g := groups[c.Node[i]]
		if g == nil {
			g = &group{}
			groups[c.Node[i]] = g
		}
		g.sum += values[i]
		g.durations = append(g.durations, c.Duration[i])
		g.rates = append(g.rates, float64(c.Duration[i])/float64(values[i]))
	}
	all := make([]float64, 0, len(rows)) // medians of the tasknodes
	medians := make(map[int32]float64)
	for n, g := range groups {
		slices.Sort(g.durations)
		slices.Sort(g.rates)
		medians[n] = quantile(g.rates, .5)
		all = append(all, medians[n])
	}
	slices.Sort(all)
	list := []NodeSkew{}
	for n, g := range groups {
		s := NodeSkew{Node: c.Nodes[n], Tasks: len(g.durations), Sum: g.sum, Duration: quantile(g.durations, .5)}
		if others := without(all, medians[n]); len(others) > 0 && quantile(others, .5) > 0 {
			s.Slowness = medians[n] / quantile(others, .5)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b NodeSkew) int {
		return cmp.Or(cmp.Compare(b.Slowness, a.Slowness), compareNames(a.Node, b.Node))
	})
	return list[:min(len(list), maxSkewNodes)]
}

// without returns sorted numbers without one of them.
func without(sorted []float64, one float64) []float64 {
	at, found := slices.BinarySearch(sorted, one)
	if !found {
		return sorted
	}
	return slices.Concat(sorted[:at], sorted[at+1:])
}
