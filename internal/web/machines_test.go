package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/apidoc"
)

// manyNodes returns nodes in racks of 20.
func manyNodes(n int) (nodes []apidoc.Tasknode) {
	for i := range n {
		nodes = append(nodes, apidoc.Tasknode{
			Name: fmt.Sprintf("n%04d.example.org", i), State: "RUNNING", Rack: fmt.Sprintf("/r%02d", i/20), MapSlots: 4, MapsRunning: 3, ReduceSlots: 2,
		})
	}
	return nodes
}

func TestRacksShowEachSlotIfTheyFit(t *testing.T) {
	p := drawRacks(manyNodes(25))
	if len(p.Racks) != 2 || len(p.Racks[0].Nodes) != 20 || p.Racks[1].Name != "/r01" || p.LeftOut != 0 {
		t.Fatalf("racks %+v", p.Racks)
	}
	used, cells := 0, 0
	boxes := make(map[[2]int]bool)
	for _, r := range p.Racks {
		for _, n := range r.Nodes {
			boxes[[2]int{n.X, n.Y}] = true
			if n.X+n.Width > p.Width || n.Y+n.Height > p.Height || n.Short() != n.Name[:5] {
				t.Errorf("box %+v is outside of %d × %d", n, p.Width, p.Height)
			}
			for _, c := range n.Cells {
				cells++
				if c.Used {
					used++
				}
			}
		}
	}
	if cells != 25*6 || used != 25*3 || len(boxes) != 25 {
		t.Errorf("%d slots, %d in use, %d places", cells, used, len(boxes))
	}
	large := drawRacks(manyNodes(1000))
	shown := 0
	for _, r := range large.Racks {
		for _, n := range r.Nodes {
			if shown++; len(n.Cells) > 0 || len(n.Bars) != 3 || n.Bars[1].Width != (nodeWidth-12)*3/4 {
				t.Fatalf("box %+v", n)
			}
		}
	}
	if shown != maxNodeBoxes || large.LeftOut != 1000-maxNodeBoxes {
		t.Errorf("%d boxes, %d left out", shown, large.LeftOut)
	}
	if sums := racksOf(manyNodes(1000)); len(sums) != 50 || sums[3].MapsRunning != 60 || sums[3].Nodes != 20 {
		t.Errorf("sums %+v", sums)
	}
}

// TestPageOfManyNodesIsBounded counts the elements of the page of 1,000 nodes.
func TestPageOfManyNodesIsBounded(t *testing.T) {
	f := newFake("wordcount")
	f.nodes = manyNodes(1000)
	page := request(newHandler(t, f), "/nodes", nil)
	if n := checkPage(t, "/nodes", page.Body.String()); page.Code != http.StatusOK || n > 4500 || !strings.Contains(page.Body.String(), "650 other nodes") {
		t.Errorf("status %d, %d elements", page.Code, n)
	}
}

func TestMastersShowChangesOfTheLeader(t *testing.T) {
	f := newFake("wordcount")
	f.masters.LeadChanges = []apidoc.LeadChange{{Time: atMillis, Term: 7, Leader: "m1", Before: "m3", Gap: 850, Cause: "no message of m3 for 600ms"}}
	h := newHandler(t, f)
	page := request(h, "/masters", nil).Body.String()
	for _, text := range []string{"850 ms", "no message of m3 for 600ms", `action="/masters/m2/transfer"`, `action="/masters/m3/remove"`} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in %s", text, page)
		}
	}
	if strings.Contains(page, `/masters/m3/transfer`) || strings.Contains(page, "/masters/m1/remove") {
		t.Error("the page offers what the masters refuse")
	}
}
