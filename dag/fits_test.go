package dag

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckFitsNamesWhatCannotStart(t *testing.T) {
	machines := slices.Repeat([]Slots{{2, 1}}, 4)
	wide := samples()["stream"]
	wide.Stages[2].Nodes = 9
	all := wide
	all.Edges = slices.Clone(wide.Edges)
	all.Edges[0].Connection = AllToAll
	pairs := Graph{
		Stages: []Stage{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 3, Slots: SlotMap}, {Name: "sum", Nodes: 1}},
		Edges: []Edge{
			{From: "a", To: "b", Channel: ChannelSHM, Connection: OneToOne},
			{From: "b", To: "sum", Channel: ChannelTCP, Connection: Gather},
		},
	}
	crumbs := []Slots{{3, 1}, {3, 1}}
	for _, c := range []struct {
		name     string
		graph    Graph
		machines []Slots
		want     string // "" if the graph fits
	}{
		{"MapReduce", MapReduce(100_000, 1000), machines, ""},
		{"pipeline", samples()["pipeline"], machines, ""},
		{"maps without map slots", MapReduce(2, 1), []Slots{{0, 2}},
			`dag: group {map}: slots for 1 map on one machine, which none of 1 machines has; largest: 2 reduce`},
		{"nothing to run", MapReduce(0, 0), nil, ""},
		{"gang", wide, machines,
			`dag: bundle {parse, enrich, count}: slots for 4 map, 13 reduce at once, of which the cluster has 8 map, 4 reduce`},
		{"group", all, machines,
			`dag: group {parse, enrich}: slots for 4 map, 4 reduce on one machine, which none of 4 machines has; largest: 2 map, 1 reduce`},
		{"room in crumbs", pairs, crumbs,
			`dag: bundle {a, b, sum}: 3 groups {a, b} at once, each with slots for 2 map on one machine; 2 machines can run 2`},
	} {
		err := c.graph.CheckFits(c.graph.Layout(), c.machines)
		if got := errorText(err); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestCheckFitsAgainstPacking compares CheckFits with a search of all ways to place the
// groups on the machines.
func TestCheckFitsAgainstPacking(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		var machines []Slots
		for range rapid.IntRange(1, 3).Draw(t, "machines") {
			machines = append(machines, Slots{rapid.IntRange(0, 3).Draw(t, "map"), rapid.IntRange(0, 3).Draw(t, "reduce")})
		}
		l := g.Layout()
		packs, alike := true, true
		for i, bundle := range l.Bundles {
			if bundle.Count == 0 {
				continue
			}
			var groups []Slots
			for _, class := range bundle.Groups {
				groups = append(groups, slices.Repeat([]Slots{l.Groups[class].Slots}, l.GroupsPerBundle(i, class))...)
			}
			packs = packs && pack(groups, slices.Clone(machines))
			alike = alike && len(bundle.Groups) == 1
		}
		err := g.CheckFits(g.Layout(), machines)
		if packs && err != nil || alike && !packs && err == nil {
			t.Fatalf("packs onto %v: %v, but the fault is %v\n%v", machines, packs, err, g)
		}
		if err != nil {
			refused++
		}
	})
	if refused == 0 {
		t.Error("every graph that was drawn fits")
	}
}

func pack(groups, machines []Slots) bool {
	if len(groups) == 0 {
		return true
	}
	for i := range machines {
		if !groups[0].FitsIn(machines[i]) {
			continue
		}
		was := machines[i]
		machines[i] = was.Minus(groups[0])
		if pack(groups[1:], machines) {
			return true
		}
		machines[i] = was
	}
	return false
}

func TestSlotsArePrinted(t *testing.T) {
	var got []string
	for _, c := range []Slots{{}, {1, 0}, {0, 2}, {1, 2}} {
		got = append(got, c.String())
	}
	if want := "0 map; 1 map; 2 reduce; 1 map, 2 reduce"; strings.Join(got, "; ") != want {
		t.Errorf("printed as %v, want %s", got, want)
	}
}
