package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/plot"
)

// slotGroups are what has a colour in pictures of slots: pools where there are
// several, else jobs, and others where there are too many.
type slotGroups struct {
	pools bool
	names []string          // in the order in which they come, others last
	of    map[string]string // of a job
}

// groups gives the greatest of the workload names of their own.
func (s *simRun) groups(run repetition) slotGroups {
	g := slotGroups{of: make(map[string]string)}
	jobs := run.played[0].Result.Jobs
	for i := range jobs {
		g.pools = g.pools || jobs[i].Pool != jobs[0].Pool
	}
	work := make(map[string]int64)
	for i := range jobs {
		name := jobs[i].ID
		if g.pools {
			name = jobs[i].Pool
		}
		if g.of[jobs[i].ID] = name; !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
		for _, t := range slices.Concat(s.first.Jobs[i].Maps, s.first.Jobs[i].Reduces) {
			work[name] += t.Millis
		}
	}
	g.fold(work)
	return g
}

// fold makes others of all but the greatest.
func (g *slotGroups) fold(work map[string]int64) {
	if len(g.names) <= plot.Colours {
		return
	}
	bySize := slices.SortedStableFunc(slices.Values(g.names), func(a, b string) int { return cmp.Compare(work[b], work[a]) })
	small := bySize[plot.Colours-1:]
	g.names = append(slices.DeleteFunc(g.names, func(name string) bool { return slices.Contains(small, name) }), plot.Others)
	for job, name := range g.of {
		if slices.Contains(small, name) {
			g.of[job] = plot.Others
		}
	}
}

// Of clusters with more lanes or attempts than these, slots are counted.
const (
	maxLanes    = 64
	maxAttempts = 5000
)

// draws reports whether the cluster is so small that each of its slots is drawn.
func (s *simRun) draws() bool {
	slots := func(n int) int { return max(n, 0) }
	maps, reduces := s.first.Tasks()
	return s.cfg.Machines*(slots(s.cfg.MapSlots)+slots(s.cfg.ReduceSlots)) <= maxLanes && maps+reduces <= maxAttempts
}

// neverSuspended reports whether each attempt had its slot from its start to its
// end: else one slot has several at a time.
func neverSuspended(run repetition) bool {
	for _, p := range run.played {
		if slices.ContainsFunc(p.Result.Tasks, func(t sim.TaskResult) bool { return t.Suspended > 0 }) {
			return false
		}
	}
	return true
}

// gantt has a lane for each slot, map slots above reduce slots on each machine.
func (s *simRun) gantt(p sim.PolicyRun, groups slotGroups) *plot.Figure {
	perKind := [2]int{max(s.cfg.MapSlots, 0), max(s.cfg.ReduceSlots, 0)}
	perMachine := perKind[0] + perKind[1]
	names := laneNames(s.cfg.Machines, perKind)
	free := make([]int64, len(names)) // when the lane is free
	tasks := slices.SortedStableFunc(slices.Values(p.Result.Tasks), func(a, b sim.TaskResult) int { return cmp.Compare(a.Start, b.Start) })
	var spans []plot.Span
	for _, t := range tasks {
		first := t.Machine * perMachine
		if t.Kind == cluster.ReduceSlot {
			first += perKind[0]
		}
		end := t.End
		if end < 0 {
			end = p.Result.End
		}
		lane := first
		for k := range perKind[t.Kind] { // the one that is free longest
			if free[first+k] < free[lane] {
				lane = first + k
			}
		}
		free[lane] = end
		spans = append(spans, plot.Span{Lane: lane, From: float64(t.Start) / 1000, To: float64(end) / 1000, Name: groups.of[t.Job]})
	}
	axes := plot.Axes{Title: p.Policy, X: "time [s]", Y: "slots", Marks: marks(p.Result)}
	return plot.Gantt(axes, names, ordered(spans, groups)...)
}

// laneNames are beside the first slot of each machine, and of each kind where there
// is room.
func laneNames(nodes int, perKind [2]int) []string {
	var names []string
	for n := range nodes {
		for kind, slots := range perKind {
			lanes := make([]string, slots)
			switch {
			case slots > 0 && nodes*(perKind[0]+perKind[1]) <= maxLanes/2:
				lanes[0] = fmt.Sprintf("%s %vs", sim.MachineName(n), cluster.Slot(kind))
			case slots > 0 && (kind == 0 || perKind[0] == 0):
				lanes[0] = sim.MachineName(n)
			}
			names = append(names, lanes...)
		}
	}
	return names
}

// ordered has one span of each group ahead, so that groups have their colours in
// their order.
func ordered(spans []plot.Span, groups slotGroups) []plot.Span {
	rank := make(map[string]int)
	for i, name := range groups.names {
		rank[name] = i
	}
	slices.SortStableFunc(spans, func(a, b plot.Span) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return spans
}

// areas counts the slots of each group, of maps and of reduces.
func (s *simRun) areas(p sim.PolicyRun, groups slotGroups) (figures []*plot.Figure) {
	for kind, words := range [2][2]string{{"maps", "map slots"}, {"reduces", "reduce slots"}} {
		times, areas := counts(p.Result, cluster.Slot(kind), groups)
		axes := plot.Axes{Title: p.Policy + ": " + words[0], X: "time [s]", Y: words[1], Marks: marks(p.Result)}
		if n, m := s.slots(); max(n, m) > 0 {
			axes.Max = float64([2]int{n, m}[kind])
		}
		figures = append(figures, plot.Areas(axes, times, areas...))
	}
	return figures
}

// counts are how many slots of a kind each group has, over time.
func counts(r *sim.Result, kind cluster.Slot, groups slotGroups) (times []float64, areas []plot.Area) {
	index := make(map[string]int)
	for i, name := range groups.names {
		index[name] = i
		areas = append(areas, plot.Area{Name: name})
	}
	now, of := make([]float64, len(areas)), make(map[string]int)
	take := func(at int64) {
		times = append(times, float64(at)/1000)
		for i := range areas {
			areas[i].Values = append(areas[i].Values, now[i])
		}
	}
	last := int64(0)
	for _, sample := range r.Series {
		if sample.Kind != kind {
			continue
		}
		if sample.At > last {
			take(last)
			last = sample.At
		}
		now[index[groups.of[sample.Job]]] += float64(sample.Running - of[sample.Job])
		of[sample.Job] = sample.Running
	}
	take(last)
	take(max(r.End, last))
	return times, areas
}
