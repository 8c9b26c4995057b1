package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hammr/hammr/internal/testing/browsertest"
)

// TestChartShowsFiguresUnderThePointer compares them with the last row of the table, and with a gap.
func TestChartShowsFiguresUnderThePointer(t *testing.T) {
	b := browsertest.Start(t)
	server := serveFake(t, newFake("nightly sort"))
	tab := b.Open(t, browsertest.View{})
	signIn(tab, server)
	tab.Go(server + "/?live=0")
	at := func(part string) string {
		return browsertest.Eval[string](tab, `{
			const figure = document.querySelector("figure.chart"), svg = figure.querySelector("svg"), box = svg.getBoundingClientRect(), d = figure.dataset;
			const times = [...figure.querySelectorAll("tbody time")].map((t) => Date.parse(t.dateTime));
			const x = Number(d.left) + (d.right - d.left) * (`+part+` - d.from) / (d.to - d.from);
			svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x / svg.viewBox.baseVal.width * box.width, clientY: box.top + 20, bubbles: true }));
			document.querySelector(".tip-box")?.textContent ?? "nothing" }`)
	}
	if got, want := at("times.at(-1) + d.step / 2"), browsertest.Eval[string](tab, `{
		const figure = document.querySelector("figure.chart"), heads = [...figure.querySelectorAll("thead th")];
		[...[...figure.querySelectorAll("tbody tr")].at(-1).cells].map((c, i) => (i ? heads[i].textContent + ": " : "") + c.textContent).join("\n") }`); got != want || !strings.Contains(got, "slots of the cluster: 6") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := at("times[0] - 3600000"); got != "nothing" {
		t.Errorf("before the first interval: %q", got)
	}
	if found := problems(tab); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// TestLostMasterOffersOthers ends the master whose page is open. The page leads to itself on the other
// masters, not before three seconds, and no longer when its master answers again.
func TestLostMasterOffersOthers(t *testing.T) {
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	for i := range f.masters.Masters {
		f.masters.Masters[i].HTTP = fmt.Sprintf("m%d.example:8088", i+1)
	}
	var ended atomic.Bool
	h := newHandler(t, f)
	server, connections := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ended.Load() {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	tab := b.Open(t, browsertest.View{})
	signIn(tab, server)
	tab.Go(server + "/jobs?state=RUNNING&user=a%20b")
	browsertest.Eval[bool](tab, settled)
	const links = `[...document.querySelectorAll("#live-others a")].filter((a) => a.checkVisibility()).map((a) => a.href)`
	if got := browsertest.Eval[[]string](tab, links); len(got) > 0 {
		t.Errorf("while the master answers: %q", got)
	}
	// The page's clock is stopped. Each try to connect sets the class of the state.
	browsertest.Eval[bool](tab, `{
		let now = Date.now();
		Date.now = () => now;
		window.pass = (ms) => { now += ms; };
		window.tried = (times) => new Promise((done) => new MutationObserver((records, o) => {
			if ((times -= records.length) > 0) return;
			o.disconnect();
			done(!document.getElementById("live-others").hidden);
		}).observe(document.getElementById("live-state"), { attributeFilter: ["class"] }));
		window.first = tried(2);
		true }`)
	ended.Store(true)
	connections.cut()
	if browsertest.Eval[bool](tab, "first") || browsertest.Eval[bool](tab, "pass(2999); tried(1)") {
		t.Error("other masters are offered in the first 3 s")
	}
	if !browsertest.Eval[bool](tab, "pass(1); tried(1)") {
		t.Error("no other masters are offered after 3 s")
	}
	want := []string{"http://m2.example:8088/jobs?state=RUNNING&user=a%20b", "http://m3.example:8088/jobs?state=RUNNING&user=a%20b"}
	if got := browsertest.Eval[[]string](tab, links); !slices.Equal(got, want) {
		t.Errorf("while the master is lost: %q, want %q", got, want)
	}
	ended.Store(false)
	browsertest.Eval[bool](tab, settled) // live again
	if got := browsertest.Eval[[]string](tab, links); len(got) > 0 {
		t.Errorf("when the master answers again: %q", got)
	}
}

// TestChangeKeepsTheURL changes a job whose timeline is shown: the page continues to show what the user
// has chosen, also the second part of the table.
func TestChangeKeepsTheURL(t *testing.T) {
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	f.addWork("nightly sort", 60, 8)
	tab := b.Open(t, browsertest.View{})
	server := serveFake(t, f)
	signIn(tab, server)
	page := server + "/jobs/" + aJob + "/timeline?by=task&page=2"
	tab.Go(page)
	browsertest.Eval[bool](tab, settled)
	// At each change the timeline is loaded again.
	const loads = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/timeline?") && e.name.includes("px=")).length`
	before := browsertest.Eval[int](tab, loads)
	if before == 0 {
		t.Fatal("no request has loaded the timeline")
	}
	browsertest.Eval[bool](tab, `document.dispatchEvent(new CustomEvent("hammr:change")); (async () => {
		while (`+loads+fmt.Sprintf(" === %d", before)+`) await new Promise(requestAnimationFrame);
		return true;
	})()`)
	if got := browsertest.Eval[string](tab, "location.href"); got != page {
		t.Errorf("after a change: %s", got)
	}
	browsertest.Eval[bool](tab, `document.getElementById("timeline").focus(); true`)
	tab.Press("+")
	if got := browsertest.Eval[string](tab, `(async () => {
		while (!new URLSearchParams(location.search).has("from")) await new Promise(requestAnimationFrame);
		return location.search;
	})()`); strings.Contains(got, "page") || !strings.Contains(got, "by=task") {
		t.Errorf("after the user has zoomed in: %s", got)
	}
}

// TestPageFollowsChanges changes a list several times while a browser shows it: it becomes what it would be
// if it were loaded again.
func TestPageFollowsChanges(t *testing.T) {
	b := browsertest.Start(t)
	s := newChanging()
	server, _ := serveHandler(t, s.handler(t))
	tab := b.Open(t, browsertest.View{})
	signIn(tab, server)
	tab.Go(server + "/jobs")
	browsertest.Eval[bool](tab, settled)
	for range 4 {
		want := fmt.Sprint("version ", s.version.Add(1))
		browsertest.Eval[bool](tab, fmt.Sprintf(`(async () => {
			while (!document.querySelector("main").textContent.includes(%q)) await new Promise(requestAnimationFrame);
			return true;
		})()`, want))
		loaded := browsertest.Eval[string](tab, `new Promise((done) => {
			const request = new XMLHttpRequest();
			request.open("GET", "/jobs");
			request.setRequestHeader("Hammr-Fragment", "1");
			request.responseType = "document";
			request.onload = () => done(request.response.querySelector("main").innerHTML);
			request.send();
		})`)
		if got := browsertest.Eval[string](tab, `document.querySelector("main").innerHTML`); got != loaded {
			t.Errorf("%s: the page is %.3000s\nwant %.3000s", want, got, loaded)
		}
	}
	if found := problems(tab); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// TestTimelineFollowsTheUser selects attempts by keys, asks for the text of one by the pointer, and zooms into cells.
// The picture, the table and the URL follow.
func TestTimelineFollowsTheUser(t *testing.T) {
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	f.addWork("nightly sort", 60, 8)
	tab := b.Open(t, browsertest.View{})
	server := serveFake(t, f)
	signIn(tab, server)
	open := func(path string) {
		tab.Go(server + path)
		browsertest.Eval[bool](tab, settled)
		browsertest.Eval[bool](tab, `document.getElementById("timeline").focus(); true`)
	}
	await := func(condition string) {
		browsertest.Eval[bool](tab, `(async () => { while (!(`+condition+`)) await new Promise(requestAnimationFrame); return true; })()`)
	}
	open("/jobs/" + aJob + "/timeline")
	tab.Press("n")
	await(`document.querySelector("#timeline .picked")`)
	tab.Press("n")
	await(`new URLSearchParams(location.search).get("sel") === "attempt_1763700000000_0001_m_000001_0"`)
	if got := browsertest.Eval[string](tab, `document.getElementById("picked").textContent`); !strings.Contains(got, "m_000001_0 finished on n2, from 04:39:40.150, 6419 ms") {
		t.Errorf("selected: %s", got)
	}
	got := browsertest.Eval[string](tab, `{
		const span = document.querySelector("#timeline .span-running[data-tip]"), box = span.getBoundingClientRect();
		span.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 3, clientY: box.top + 3, bubbles: true }));
		document.querySelector("body > .tip-box").textContent }`)
	if !strings.HasPrefix(got, "r_000006_0 running on n3, ") || !strings.HasSuffix(got, ", so far") {
		t.Errorf("under the pointer: %q", got)
	}
	large := newFake("nightly sort")
	largeJob(large)
	server = serveFake(t, large) // another one, since a server keeps what it knows of a job for a moment
	signIn(tab, server)
	open("/jobs/" + aJob + "/timeline")
	const rows = `document.querySelector("#items .muted").textContent`
	before := browsertest.Eval[string](tab, rows)
	browsertest.Eval[bool](tab, `{
		const timeline = document.getElementById("timeline"), box = timeline.querySelector(".row").getBoundingClientRect();
		timeline.setPointerCapture = () => {}; // the pointer is none of the browser's
		for (const kind of ["pointerdown", "pointerup"]) timeline.dispatchEvent(new PointerEvent(kind, { clientX: box.left + box.width / 2, clientY: box.top + 3 }));
		true }`)
	await(`new URLSearchParams(location.search).get("lanes") === "0-5" && ` + rows + ` !== ` + fmt.Sprintf("%q", before))
	if got := browsertest.Eval[int](tab, `document.querySelectorAll("#timeline .span[data-tip]").length`); got < 100 {
		t.Errorf("%d spans after a click on a group of rows", got)
	}
	if found := problems(tab); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
