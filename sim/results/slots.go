package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// groups has the units that get a colour in pictures of slots: pools if the jobs use
// several, else jobs. If there are too many, the smallest are one group, draw.Others. It is
// computed from the first run, so that all panels have the same colours.
type groups struct {
	byPool bool
	names  []string          // in order of the first job; draw.Others last
	of     map[string]string // group of a job, by id
}

// groupsOf groups the jobs of a run by their pools. With one pool its name says nothing, so jobs have
// the colours. workOf returns the slot time of a job, by its place in the run.
func groupsOf(r *sim.Result, workOf func(i int) int64) groups {
	g := groups{of: make(map[string]string)}
	for i := range r.Jobs {
		g.byPool = g.byPool || r.Jobs[i].Pool != r.Jobs[0].Pool
	}
	work := make(map[string]int64)
	for i := range r.Jobs {
		name := r.Jobs[i].ID
		if g.byPool {
			name = r.Jobs[i].Pool
		}
		if g.of[r.Jobs[i].ID] = name; !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
		work[name] += workOf(i)
	}
	g.fold(work)
	return g
}

// fold keeps the groups with the most work, and joins all others into one. More colours than
// draw.Colours cannot be distinguished.
func (g *groups) fold(work map[string]int64) {
	if len(g.names) <= draw.Colours {
		return
	}
	bySize := slices.SortedStableFunc(slices.Values(g.names), func(a, b string) int { return cmp.Compare(work[b], work[a]) })
	// One colour is left for the rest.
	small := bySize[draw.Colours-1:]
	g.names = append(slices.DeleteFunc(g.names, func(name string) bool { return slices.Contains(small, name) }), draw.Others)
	for job, name := range g.of {
		if slices.Contains(small, name) {
			g.of[job] = draw.Others
		}
	}
}

// rank returns the place of each group in the order of names. Spans are sorted by it, since
// plot gives colours in the order in which names appear.
func (g *groups) rank() map[string]int {
	rank := make(map[string]int)
	for i, name := range g.names {
		rank[name] = i
	}
	return rank
}

// Clusters with more rows or attempts than these have numbers of slots drawn.
const (
	maxRows     = 64
	maxAttempts = 5000
)

// DrawsEachSlot reports whether a run is so small that each slot is drawn. The first
// repetition then needs Config.Tasks. Callers ask before the run, because recording all
// tasks takes memory.
func DrawsEachSlot(c sim.Config, w *workload.Workload) bool {
	maps, reduces := w.Tasks()
	return c.Machines*(max(c.MapSlots, 0)+max(c.ReduceSlots, 0)) <= maxRows && maps+reduces <= maxAttempts
}

// anySuspended reports whether an attempt was without its slot for a time. One slot then
// has several attempts at the same time, and a row has no place for them. It needs
// Config.Tasks.
func anySuspended(runs []PolicyRun) bool {
	return slices.ContainsFunc(runs, func(run PolicyRun) bool {
		return slices.ContainsFunc(run.Result.Tasks, func(t sim.TaskResult) bool { return t.Suspended > 0 })
	})
}

// gantt returns a picture with a row for each slot. On each machine, map slots are above
// reduce slots.
//
// The simulator knows how many slots are in use on a machine but not which; a task goes to
// the row that has been free for the longest time. The tasks of a suspended attempt's slot
// would overlap, see anySuspended.
func (r *Report) gantt(run PolicyRun, g groups) *draw.Figure {
	perKind := r.perMachine()
	names := rowNames(r.Cluster.Machines, perKind)
	freeAt := make([]int64, len(names)) // of each row
	tasks := slices.SortedStableFunc(slices.Values(run.Result.Tasks), func(a, b sim.TaskResult) int { return cmp.Compare(a.Start, b.Start) })
	var spans []draw.Span
	for _, t := range tasks {
		first := t.Machine * perKind.Total()
		if t.Kind == cluster.ReduceSlot {
			first += perKind[0]
		}
		end := t.End
		if end < 0 {
			end = run.Result.End
		}
		row := first
		for k := range perKind[t.Kind] { // the row that is free longest
			if freeAt[first+k] < freeAt[row] {
				row = first + k
			}
		}
		freeAt[row] = end
		spans = append(spans, draw.Span{Row: row, From: float64(t.Start) / 1000, To: float64(end) / 1000, Name: g.of[t.Job]})
	}
	rank := g.rank() // colours are given in the order of spans
	slices.SortStableFunc(spans, func(a, b draw.Span) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return draw.Gantt(draw.Axes{Title: run.Policy, X: "time [s]", Y: "slots", Marks: marks(run.Result)}, names, spans...)
}

// rowNames label the first slot of each machine and, if there is space, of each kind.
func rowNames(machines int, perKind cluster.Slots) []string {
	var names []string
	for n := range machines {
		for kind, slots := range perKind {
			rows := make([]string, slots)
			switch {
			case slots > 0 && machines*(perKind.Total()) <= maxRows/2:
				rows[0] = fmt.Sprintf("%s %vs", sim.MachineName(n), cluster.Slot(kind))
			case slots > 0 && (kind == 0 || perKind[0] == 0):
				rows[0] = sim.MachineName(n)
			}
			names = append(names, rows...)
		}
	}
	return names
}

// areas show the number of slots of each group: a figure of maps and one of reduces, whose titles
// begin with a prefix. slots are those of the cluster; none are unknown.
func (g *groups) areas(prefix string, r *sim.Result, slots cluster.Slots) (figures []*draw.Figure) {
	for kind, labels := range [2][2]string{{"maps", "map slots"}, {"reduces", "reduce slots"}} {
		times, areas := g.count(r, cluster.Slot(kind))
		axes := draw.Axes{Title: prefix + labels[0], X: "time [s]", Y: labels[1], Marks: marks(r)}
		if !slots.IsZero() {
			axes.Max = float64(slots[kind])
		}
		figures = append(figures, draw.Areas(axes, times, areas...))
	}
	return figures
}

// count sums the slots of each group over time, from the samples of jobs.
func (g *groups) count(r *sim.Result, kind cluster.Slot) (times []float64, areas []draw.Area) {
	rank := g.rank()
	for _, name := range g.names {
		areas = append(areas, draw.Area{Name: name})
	}
	slotsOfGroup, slotsOfJob := make([]float64, len(areas)), make(map[string]int)
	add := func(at int64) {
		times = append(times, float64(at)/1000)
		for i := range areas {
			areas[i].Values = append(areas[i].Values, slotsOfGroup[i])
		}
	}
	last := int64(0)
	for _, sample := range r.Series {
		if sample.Kind != kind {
			continue
		}
		if sample.At > last {
			add(last)
			last = sample.At
		}
		slotsOfGroup[rank[g.of[sample.Job]]] += float64(sample.Running - slotsOfJob[sample.Job])
		slotsOfJob[sample.Job] = sample.Running
	}
	add(last)
	add(max(r.End, last))
	return times, areas
}
