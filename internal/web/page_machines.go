package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// rackSums adds up a rack for the table of racks.
type rackSums struct {
	Name                                             string
	Nodes, Running                                   int
	MapSlots, MapsRunning, ReduceSlots, ReducesInUse int32
}

// racksOf returns the sums of all racks, by name.
func racksOf(nodes []apidoc.Tasknode) (racks []rackSums) {
	for _, n := range nodes {
		i := slices.IndexFunc(racks, func(r rackSums) bool { return r.Name == n.Rack })
		if i < 0 {
			racks = append(racks, rackSums{Name: n.Rack})
			i = len(racks) - 1
		}
		r := &racks[i]
		r.Nodes++
		if n.State == "RUNNING" {
			r.Running++
		}
		r.MapSlots, r.MapsRunning = r.MapSlots+n.MapSlots, r.MapsRunning+n.MapsRunning
		r.ReduceSlots, r.ReducesInUse = r.ReduceSlots+n.ReduceSlots, r.ReducesInUse+n.ReducesRunning
	}
	slices.SortFunc(racks, func(a, b rackSums) int { return strings.Compare(a.Name, b.Name) })
	return racks
}

// rackMiss counts attempts that were started in another rack than that of their input.
type rackMiss struct {
	From, To string // rack of the input, and of the tasknode
	Attempts int64
}

// maxRackMisses bounds the table of them.
const maxRackMisses = 20

// rackStarts says where attempts were started.
type rackStarts struct {
	All, Missed int64
	Misses      []rackMiss // the most frequent ones first
}

// rackStartsOf adds up the starts on all tasknodes.
func rackStartsOf(nodes []apidoc.Tasknode) (r rackStarts) {
	misses := make(map[[2]string]int64)
	for _, n := range nodes {
		for from, count := range n.Starts {
			r.All += count
			if from != n.Rack {
				r.Missed += count
				misses[[2]string{from, n.Rack}] += count
			}
		}
	}
	for racks, count := range misses {
		r.Misses = append(r.Misses, rackMiss{racks[0], racks[1], count})
	}
	slices.SortFunc(r.Misses, func(a, b rackMiss) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	r.Misses = r.Misses[:min(len(r.Misses), maxRackMisses)]
	return r
}

func showNodes(c *call) error {
	states := make(map[string]int)
	var kept []apidoc.Tasknode
	keep := func(n *apidoc.Tasknode) bool {
		states[n.State]++
		if c.params["state"] != "" && c.params["state"] != n.State {
			return false
		}
		kept = append(kept, *n)
		return true
	}
	rows, total, next, err := docs.PageOf(read(c, docs.Nodes, docs.No{}), keep, docs.NodeColumns, pageOf(c.params), "name", "nodes")
	if err != nil {
		return err
	}
	table := newTable(c, rows, total, states, next, docs.NodeColumns)
	table.CSV = ""
	return c.render(http.StatusOK, "nodes", "Nodes", struct {
		tableData[apidoc.Tasknode]
		Racks  []rackSums
		Starts rackStarts
	}{table, racksOf(kept), rackStartsOf(kept)}, Command{"all tasknodes", "hammr node list --all"})
}
