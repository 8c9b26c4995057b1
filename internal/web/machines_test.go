package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
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

func TestRacksOfNodes(t *testing.T) {
	if sums := racksOf(manyNodes(1000)); len(sums) != 50 || sums[3].MapsRunning != 60 || sums[3].Nodes != 20 {
		t.Errorf("sums %+v", sums)
	}
}

// TestPageOfManyNodesIsBounded counts the elements of the page of 1,000 nodes.
func TestPageOfManyNodesIsBounded(t *testing.T) {
	f := newFake("wordcount")
	f.nodes = manyNodes(1000)
	page := request(newHandler(t, f), "/nodes", nil)
	if n := checkPage(t, "/nodes", page.Body.String()); page.Code != http.StatusOK || n > 4000 {
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

// TestNodeShowsItsDrain looks at a tasknode before and after the deadline of its drain.
func TestNodeShowsItsDrain(t *testing.T) {
	f := newFake("wordcount")
	n := &f.nodes[1]
	n.Running = []apidoc.RunningAttempt{{ID: anOpen, State: "RUNNING", StartTime: atMillis - 5000, Progress: .25, Phase: "map"}}
	n.Drain = &apidoc.Drain{Since: atMillis - 60_000, Deadline: math.MaxInt64, Start: apidoc.DrainCounts{Outputs: 40, Bytes: 4 << 20}, Left: apidoc.DrainCounts{Outputs: 3},
		Moved: 37, Targets: []apidoc.DrainTarget{{Node: "n1", Moved: 37, Bytes: 1 << 20}}, Basis: "nothing was moved in the last 30 s"}
	h := newHandler(t, f)
	page := request(h, "/nodes/n2", nil).Body.String()
	for _, text := range []string{"37 moved (0 B); nothing was moved in the last 30 s", "Deadline <time", "4 MiB", `<a href="/nodes/n1">n1</a></td><td class="n">37</td>`,
		`action="/attempts/` + anOpen + `/kill"`, "25 %", `action="/nodes/n2/admit"`, `name="deadline"`, "ann</strong> drained the node"} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in %s", text, mainOf(page))
		}
	}
	if strings.Contains(page, "has passed") {
		t.Error("the deadline has passed before its time")
	}
	n.Drain.Deadline = atMillis - 1
	if page := request(h, "/nodes/n2", nil).Body.String(); !strings.Contains(page, "The deadline of the drain has passed") {
		t.Errorf("after the deadline: %s", mainOf(page))
	}
	for _, wrong := range []string{"soon", "0s", "-5m", "100000h"} {
		if w := request(h, "/api/v1/nodes/n1/drain", url.Values{"deadline": {wrong}}); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "as 10m or 2h30m") {
			t.Errorf("deadline %q: status %d, %s", wrong, w.Code, w.Body)
		}
	}
	if len(f.acted) != 0 {
		t.Errorf("drained with a wrong deadline: %v", f.acted)
	}
	drain := docs.Actions[slices.IndexFunc(docs.Actions, func(a *docs.Action) bool { return a.Do == "drain" })]
	if with, without := drain.Command("n 1", "10m"), drain.Command("n1", ""); with != "hammr node drain 'n 1' --deadline 10m" || without != "hammr node drain n1" {
		t.Errorf("commands %q, %q", with, without)
	}
}

// TestNodeShowsItsLosses loads the page of a tasknode that was lost while its tasks recover, and after that.
func TestNodeShowsItsLosses(t *testing.T) {
	f := newFake("wordcount")
	h := newHandler(t, f)
	page := request(h, "/nodes/n1", nil).Body.String()
	for _, text := range []string{`<td>wordcount</td><td class="n">2</td><td class="n">1</td><td class="n">1</td><td class="n">4.5 s</td><td class="n">1 of 2</td><td class="n"></td>`,
		`<td class="n">6.0 s</td>`, `<a href="/nodes/n2">n2</a>`, `action="/nodes/n1/set"`, "hammr node set n1 --map-slots N --reduce-slots N"} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in %s", text, page)
		}
	}
	correct := int64(7500)
	f.losses[0].CorrectMillis, f.losses[0].Dropped = &correct, 1
	if page := request(h, "/nodes/n1", nil).Body.String(); !strings.Contains(page, `<td class="n">7500 ms</td>`) {
		t.Errorf("once the schedule is correct: %s", mainOf(page))
	}
	f.nodes[0].Lost, f.losses = true, nil
	if page := request(h, "/nodes/n1", nil).Body.String(); strings.Contains(page, "Losses") || strings.Contains(page, "/nodes/n1/set") {
		t.Errorf("lost now, and without losses: %s", mainOf(page))
	}
}

// TestMastersAreAdded sends the form for a master that has no page of its own yet.
func TestMastersAreAdded(t *testing.T) {
	f := newFake("wordcount")
	behind := int64(120)
	f.masters.Masters[1].LagMillis = &behind
	f.masters.Masters[0].LogWrites.Histogram = []apidoc.WriteBin{{BelowMicros: 100}, {BelowMicros: 200, Writes: 500}, {BelowMicros: 400}, {Writes: 12}}
	h := newHandler(t, f)
	page := request(h, "/masters", nil).Body.String()
	for _, text := range []string{`action="/masters/add"`, "120 ms", "<td>below 0.2 ms</td><td class=\"n\">500</td>", "<td>longer</td><td class=\"n\">12</td>"} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in %s", text, mainOf(page))
		}
	}
	if strings.Contains(page, "below 0.1 ms") {
		t.Error("the histogram begins with an empty bin")
	}
	w := request(h, "/masters/add", url.Values{"master": {"m4"}, "address": {"d:7070"}})
	if w.Header().Get("Location") != "/masters" || len(f.acted) != 1 || f.acted[0].Do != "master.add" || f.acted[0].ID != "m4" || f.acted[0].Value != "d:7070" {
		t.Errorf("status %d, actions %+v", w.Code, f.acted)
	}
	if w := request(h, "/masters/add", url.Values{"master": {"m4"}}); w.Code != http.StatusBadRequest {
		t.Errorf("without an address: status %d", w.Code)
	}
}

// TestNodesCountStartsInOtherRacks adds up the starts of all tasknodes.
func TestNodesCountStartsInOtherRacks(t *testing.T) {
	nodes := []apidoc.Tasknode{
		{Name: "n1", Rack: "/a", Starts: map[string]int64{"/a": 5, "/b": 2}}, {Name: "n2", Rack: "/a", Starts: map[string]int64{"/b": 1}},
		{Name: "n3", Rack: "/b", Starts: map[string]int64{"/a": 4, "/c": 4}}, {Name: "n4"},
	}
	want := rackStarts{All: 16, Missed: 11, Misses: []rackMiss{{"/a", "/b", 4}, {"/c", "/b", 4}, {"/b", "/a", 3}}}
	if got := rackStartsOf(nodes); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	f := newFake("wordcount")
	f.nodes = nodes
	if page := request(newHandler(t, f), "/nodes", nil).Body.String(); !strings.Contains(page, "(11 of 16)") {
		t.Error(mainOf(page))
	}
}

// TestActionsOfUsersAreShown on the pages of their objects, and by the API.
func TestActionsOfUsersAreShown(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for page, text := range map[string]string{
		"/jobs/" + aJob: `<strong>ann</strong> preempted by split <a class="mono" href="/attempts/` + anOpen + `">`, "/scheduler": "<strong>bob</strong> set the policy to fair",
		"/nodes/n2": "<strong>ann</strong> drained the node", "/api/v1/audit?job=" + aJob: `"do":"job.priority"`,
	} {
		if got := request(h, page, nil).Body.String(); !strings.Contains(got, text) || strings.Contains(page, "/jobs/") && !strings.Contains(got, "set the priority to HIGH") {
			t.Errorf("%s: no %q in %s", page, text, mainOf(got))
		}
	}
	for query, want := range map[string]int{"": 4, "?job=" + aJob: 2, "?job=" + aJob + "&object=attempt": 1, "?node=n2": 1, "?node=n1": 0, "?object=policy": 1, "?object=pig": -1} {
		w, doc := request(h, "/api/v1/audit"+query, nil), apidoc.Audit{}
		if want < 0 && w.Code == http.StatusBadRequest {
			continue
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || len(doc.Actions) != want || doc.Since == 0 {
			t.Errorf("%s: %v, %s; want %d", query, err, w.Body, want)
		}
	}
}
