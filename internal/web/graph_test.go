package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/web/analysis"
)

// staged makes stages from their names, each with the names of those that it reads: "join a b".
func staged(lines ...string) (stages []apidoc.Stage) {
	for i, line := range lines {
		f := strings.Fields(line)
		stages = append(stages, apidoc.Stage{Name: f[0], Code: fmt.Sprint("s", i), Reads: f[1:], Tasks: 4, Finished: 2, Running: 1})
	}
	return stages
}

func TestGraphHasAnArrowForEachRead(t *testing.T) {
	g := drawGraph(staged("a", "b", "join a b", "side b gone", "out side join", "more out", "last more a"), map[string]int64{"s0": 3 << 20})
	var arrows []string
	for _, a := range g.Arrows {
		arrows = append(arrows, strings.TrimSpace(a.From+">"+a.To+" "+a.Label))
	}
	if got := strings.Join(arrows, ","); got != "a>join 3 MiB,b>join,b>side,side>out,join>out,out>more,more>last,a>last 3 MiB" {
		t.Errorf("arrows %s", got)
	}
	at := make(map[string]Box)
	for _, b := range g.Boxes {
		at[b.Name] = b
		for _, other := range g.Boxes {
			if b.Name != other.Name && b.X < other.X+boxWidth && other.X < b.X+boxWidth && b.Y < other.Y+boxHeight && other.Y < b.Y+boxHeight {
				t.Errorf("%s covers %s", b.Name, other.Name)
			}
		}
		if b.X+boxWidth > g.Width || b.Y+boxHeight > g.Height || b.Done != barWidth/2 || b.Started != barWidth*3/4 {
			t.Errorf("box %+v in a picture of %d × %d", b, g.Width, g.Height)
		}
	}
	if at["a"].X != at["b"].X || at["b"].Y == at["a"].Y || at["join"].X <= at["a"].X || at["out"].X <= at["join"].X || at["last"].Y <= at["b"].Y+boxHeight || at["last"].X != at["a"].X {
		t.Errorf("boxes %+v", g.Boxes)
	}
}

// TestGraphHasFewCrossings checks that readers are in the order of what they read.
func TestGraphHasFewCrossings(t *testing.T) {
	g := drawGraph(staged("a", "b", "c", "fromC c", "fromB b", "fromA a"), nil)
	top := make(map[string]int)
	for _, b := range g.Boxes {
		top[b.Name] = b.Y
	}
	if top["fromA"] != top["a"] || top["fromB"] != top["b"] || top["fromC"] != top["c"] {
		t.Errorf("heights %v", top)
	}
}

func TestGraphOfOldHistories(t *testing.T) {
	stages := []apidoc.Stage{{Name: "map", Slot: "map"}, {Name: "reduce", Slot: "reduce"}}
	if g := drawGraph(stages, nil); len(g.Arrows) != 1 || g.Arrows[0].From != "map" {
		t.Errorf("%+v", g.Arrows)
	}
	if g := drawGraph(staged("a", "b", "c", "d", "e", "f"), nil); len(g.Arrows) != 0 || g.Boxes[5].X != g.Boxes[1].X || g.Boxes[5].Y <= g.Boxes[1].Y {
		t.Errorf("%+v", g)
	}
	if g := drawGraph(nil, nil); len(g.Boxes) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestJobPageShowsItsPast(t *testing.T) {
	f := newFake("n4")
	f.addWork("n4", 60, 8)
	f.explain.Stages[0].Code = "m"
	w := request(newHandler(t, f), "/jobs/"+aJob, nil)
	for _, text := range []string{"little: its last tasks", "Slots over time", `class="phase-0"`, "reads map: 3.", "<strong>First failure:"} {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	checkPage(t, "job", w.Body.String())
	delete(f.columns, aJob)
	delete(f.tasks, aJob) // as for a job of which only the report is left
	if w = request(newHandler(t, f), "/jobs/"+aJob, nil); w.Code != 200 || strings.Contains(w.Body.String(), "Slots over time") {
		t.Errorf("status %d", w.Code)
	}
}

func TestPhaseParts(t *testing.T) {
	parts := phaseParts([]report.Phase{{Name: "setup", Seconds: 1}, {Name: "map", Seconds: 3}, {Name: "reduce", Seconds: -1}})
	if len(parts) != 3 || parts[0].Width != 25 || parts[1].X != 25 || parts[1].Width != 75 || parts[2].Width != 0 {
		t.Errorf("%+v", parts)
	}
	if none := phaseParts([]report.Phase{{Name: "setup"}}); none[0].Width != 0 {
		t.Errorf("%+v", none)
	}
}

func TestLeftSaysItsBasis(t *testing.T) {
	for _, c := range []struct {
		f    analysis.Forecast
		want string
	}{
		{analysis.Forecast{Slots: 24, Low: 180_000, High: 300_000}, "3 min 0 s to 5 min 0 s if it keeps its 24 slots (by p25 and p75 of finished tasks)"},
		{analysis.Forecast{Slots: 1, High: 3000}, "up to 3.0 s if it keeps its 1 slot (by the p75 of finished tasks)"},
		{analysis.Forecast{Unknown: "no task runs now"}, "not known: no task runs now"},
		{analysis.Forecast{Slots: 2}, "little: its last tasks have run for longer than most of those that have finished"},
	} {
		if got := (&jobPast{Forecast: c.f}).Left(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
}
