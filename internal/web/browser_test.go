package web

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hammr/hammr/internal/clean"
	"github.com/hammr/hammr/internal/testlevel"
	"github.com/hammr/hammr/internal/web/browsertest"
)

// picturesVariable is an environment variable: the directory that gets a PNG of each page in each view,
// for those who look at them.
const picturesVariable = "HAMMR_PICTURES"

// views are how the pages are shown: wide and narrow, light and dark, with and without scripts.
var views = []struct {
	name string
	browsertest.View
}{
	{"light", browsertest.View{}},
	{"dark-narrow", browsertest.View{Dark: true, Width: 390, Height: 844}},
	{"dark", browsertest.View{Dark: true, NoScript: true}},
	{"light-narrow", browsertest.View{Width: 390, Height: 844, NoScript: true}},
}

// settled waits until the scripts of a page have done what they do by themselves: the page follows the
// cluster, and the canvas has replaced the SVG of the timeline.
const settled = `(async () => {
	const frame = () => new Promise(requestAnimationFrame), state = document.getElementById("live-state");
	while (state && state.textContent !== "live" || document.querySelector("#timeline > svg")) await frame();
	await document.fonts.ready;
	for (let i = 0; i < 3; i++) await frame();
	return true;
})()`

// pictureFile returns the name of the picture of a page in a view.
func pictureFile(path, view string) string {
	name := strings.NewReplacer(aJob, "JOB", aTask, "TASK", known["profile"], "PROFILE", "/", "_", "?", "_").Replace(cmp.Or(strings.TrimPrefix(path, "/"), "overview"))
	return name + "-" + view + ".png"
}

// serveFake serves a fake cluster and returns its URL.
func serveFake(t testing.TB, f *fakeSource) (url string) {
	t.Helper()
	url, _ = serveHandler(t, newHandler(t, f))
	return url
}

// serveHandler serves pages.
func serveHandler(t testing.TB, h http.Handler) (url string, connections *kept) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	connections = &kept{Listener: s.Listener}
	s.Listener = connections
	s.Start()
	t.Cleanup(func() {
		connections.cut() // pages follow the cluster
		s.Close()
	})
	return s.URL, connections
}

// kept listens, and keeps the connections that it has accepted, also those that streams have taken.
type kept struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

// Accept implements net.Listener.
func (l *kept) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

// cut closes all connections.
func (l *kept) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		_ = conn.Close() // it may be closed
	}
}

// signIn signs the browser in by the form. All tabs of the browser share the session.
func signIn(tab *browsertest.Tab, server string) {
	tab.Go(server + "/login")
	tab.Follow(fmt.Sprintf(`document.querySelector(".login [name=token]").value = %q; document.querySelector(".login").requestSubmit()`, aToken))
}

// shownPages returns the paths of all pages, and of a page for each kind of error.
func shownPages() (paths []string) {
	for _, rt := range Routes() {
		if rt.Method == "" && rt.hadoop == nil && !rt.isAPI() && rt.Path != "/attempts/{attempt}" && rt.Path != "/attempts/{attempt}/logs/{stream}" && rt.Path != "/profiles/{profile}/file" { // these lead elsewhere, or to a file
			paths = append(paths, target(rt))
		}
	}
	return append(paths, "/login", "/nodes/n2", "/search?q=o", "/jobs?user=nobody", "/jobs/job_1763700000000_0099", "/jobs?state=none")
}

// savePicture writes a PNG; it makes the directory if that is missing.
func savePicture(t *testing.T, file string, png []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, png, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// problems returns the problems of a page, except that its own status is one of an error.
func problems(tab *browsertest.Tab) []string {
	return slices.DeleteFunc(slices.Clone(tab.Problems()), func(p string) bool {
		return strings.Contains(p, "the server responded with a status of 40")
	})
}

// TestPagesInBrowser opens all pages: in the gate in one view with scripts and in one without, at night in all views.
// Nothing may be wrong with them that the browser or axe-core can find, and nothing may be wider than the window.
func TestPagesInBrowser(t *testing.T) {
	b := browsertest.Start(t)
	browsertest.LoadAxe(t)
	server := serveFake(t, newFake("nightly sort & co."))
	signIn(b.Open(t, browsertest.View{}), server)
	for i, v := range views {
		t.Run(v.name, func(t *testing.T) {
			if v.Width > 0 {
				// Gate: TestPagesInBrowser
				testlevel.Nightly(t)
			}
			tab := b.Open(t, v.View)
			for _, path := range shownPages() {
				tab.Go(server + path)
				if !v.NoScript {
					browsertest.Eval[bool](tab, settled)
				}
				found := problems(tab)
				if width := browsertest.Eval[int](tab, "document.documentElement.scrollWidth - innerWidth"); width > 0 {
					found = append(found, fmt.Sprintf("%d px wider than the window", width))
				}
				if dir := os.Getenv(picturesVariable); dir != "" {
					savePicture(t, filepath.Join(dir, pictureFile(path, v.name)), tab.Picture())
				}
				if i < 2 { // the other views have the same structure and colours
					found = append(found, tab.Axe()...)
				}
				for _, problem := range found {
					t.Errorf("%s: %s", path, problem)
				}
			}
		})
	}
}

// corpus are further names that would run a script on a page that does not escape them.
var corpus = append(slices.Clone(hostile),
	`<svg onload=alert(1)>`, `<svg/onload=alert(1)//`, `<img src=x onerror="alert(1)">`, `<iframe srcdoc="<script>alert(1)</script>">`,
	`<a href="javascript:alert(1)">x</a>`, `<details open ontoggle=alert(1)>`, `<body onload=alert(1)>`, `<input autofocus onfocus=alert(1)>`,
	`<math><mtext></table><mglyph><style><!--</style><img src onerror=alert(1)>`, `<template><script>alert(1)</script></template>`, `<!--><script>alert(1)</script>-->`,
	`" onmouseover="alert(1)`, `' onfocus='alert(1)' autofocus='`, "` onload=alert(1) `", `data:text/html,<script>alert(1)</script>`, `//evil.example/x.js`,
	`\";alert(1);//`, `</style><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `<base href="//evil.example/">`, `<meta http-equiv=refresh content="0;url=javascript:alert(1)">`,
	`<form action="javascript:alert(1)"><button>x`, `<link rel=stylesheet href=//evil.example/x.css>`, `<object data="javascript:alert(1)">`, `${alert(1)}`, `{{constructor.constructor('alert(1)')()}}`,
)

// textPages returns the pages that show what users name.
func textPages(t *testing.T) []string {
	t.Helper()
	const name = "shown-name"
	h := newHandler(t, newFake(name))
	paths := slices.DeleteFunc(append(shownPages(), "/attempts/"+anOver+"/logs?follow=yes"), func(path string) bool {
		return !strings.Contains(request(h, path, nil).Body.String(), name)
	})
	if len(paths) < 10 {
		t.Fatalf("names are shown only on %q", paths)
	}
	return paths
}

// TestHostileNamesRunNoScript opens the pages of clusters in which everything that a user names has a
// hostile name. A name is several of the corpus, because an opened page takes time.
func TestHostileNamesRunNoScript(t *testing.T) {
	b := browsertest.Start(t)
	tab := b.Open(t, browsertest.View{})
	paths := textPages(t)
	for i, group := range slices.Collect(slices.Chunk(corpus, testlevel.Choose(24, 3))) {
		name := strings.Join(group, " ")
		server := serveFake(t, newFake(name))
		if i == 0 {
			signIn(tab, server)
		}
		for _, path := range paths {
			tab.Go(server + path)
			for _, problem := range problems(tab) {
				t.Errorf("%s with the name %q: %s", path, name, problem)
			}
		}
		tab.Go(server + "/jobs")
		want := strings.Join(strings.Fields(clean.Text(strings.ReplaceAll(name, "\x00", "\ufffd"))), " ") // package html/template replaces a NUL
		if shown := browsertest.Eval[string](tab, `document.querySelector("td.name").textContent.trim().split(/[ \t\n]+/).join(" ")`); shown != want {
			t.Errorf("the name %q is shown as %q", want, shown)
		}
	}
}

// TestKeyboardReachesEverything presses Tab on pages until it has been everywhere: on all of them at night.
func TestKeyboardReachesEverything(t *testing.T) {
	b := browsertest.Start(t)
	server := serveFake(t, newFake("nightly sort"))
	tab := b.Open(t, browsertest.View{})
	signIn(tab, server)
	for _, path := range testlevel.Choose([]string{"/jobs", "/jobs/" + aJob}, shownPages()) {
		tab.Go(server + path)
		// An element counts as reached if it gets the focus, which the page can see: an outline.
		browsertest.Eval[int](tab, `window.wanted = new Set([...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(e => e.checkVisibility() && e.type !== "hidden" && !e.disabled));
			window.noOutline = [];
			document.addEventListener("focusin", e => { wanted.delete(e.target); if (getComputedStyle(e.target).outlineStyle === "none") noOutline.push(e.target.outerHTML.slice(0, 80)); });
			document.body.focus(); wanted.size`)
		for range 8 {
			tab.Press(strings.Repeat("\t", 50))
			if browsertest.Eval[int](tab, "wanted.size") == 0 {
				break
			}
		}
		if left := browsertest.Eval[[]string](tab, "[...wanted].map(e => e.outerHTML.slice(0, 100))"); len(left) > 0 {
			t.Errorf("%s: the keyboard does not reach %q", path, left)
		}
		if none := browsertest.Eval[[]string](tab, "noOutline"); len(none) > 0 {
			t.Errorf("%s: no outline around %q", path, none)
		}
	}
}

// TestFormsWithoutScript submits every form of every page in a browser without scripts.
func TestFormsWithoutScript(t *testing.T) {
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	server := serveFake(t, f)
	tab := b.Open(t, browsertest.View{NoScript: true})
	signIn(tab, server)
	done := make(map[string]bool)
	for _, path := range shownPages() {
		tab.Go(server + path)
		for _, action := range browsertest.Eval[[]string](tab, `[...document.querySelectorAll("main form[method=post]")].map(f => f.getAttribute("action"))`) {
			if done[action] || action == "/login" {
				continue
			}
			done[action] = true
			acted := len(f.acted) + len(f.changes)
			tab.Go(server + path)
			form := fmt.Sprintf(`document.querySelector('main form[action=%q]')`, action)
			tab.Follow(form + `.querySelectorAll("input:required:not([value])").forEach(e => e.value = "default"); ` + form + ".requestSubmit()")
			if text := browsertest.Eval[string](tab, `document.querySelector("main").innerText`); len(f.acted)+len(f.changes) != acted+1 && strings.Contains(action, "/") && !strings.Contains(text, "preview") {
				t.Errorf("%s: the form %s led to %.300s", path, action, text)
			}
		}
	}
	for _, want := range []string{"/jobs/" + aJob + "/kill", "/jobs/" + aJob + "/move", "/nodes/n1/drain", "/masters/m2/transfer"} {
		if !done[want] {
			t.Errorf("no page has the form %s; found %v", want, slices.Sorted(maps.Keys(done)))
		}
	}
}

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
	// The page's clock stands still. Each try to connect sets the class of the state.
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
	const loads = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/v1/jobs/") && e.name.includes("timeline")).length`
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

// TestPageFollowsByDeltas changes a list several times while a browser shows it: it becomes what it would be
// if it were loaded again, and from the second change on the browser gets deltas.
func TestPageFollowsByDeltas(t *testing.T) {
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
	const deltas = `performance.getEntriesByType("resource").filter((e) => e.responseStatus === 226).length`
	if n := browsertest.Eval[int](tab, deltas); n < 3 {
		t.Errorf("%d deltas for 4 changes", n)
	}
	if found := problems(tab); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// TestFirstVisitIsSmall bounds what a browser without any files receives for a page: for all of them at night.
func TestFirstVisitIsSmall(t *testing.T) {
	const kB = 1000
	bounds := map[string]int{".css": 8 * kB, ".js": 45 * kB, "": 40 * kB}
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	f.tasks[aJob] = manyTasks(100_000)
	server := serveFake(t, f)
	tab := b.Open(t, browsertest.View{})
	signIn(tab, server)
	for _, path := range testlevel.Choose([]string{"/", "/jobs/" + aJob + "/timeline", "/jobs/" + aJob + "/tasks"}, shownPages()) {
		tab.ClearCache()
		tab.Go(server + path)
		requests, received := tab.Received()
		byKind, total := make(map[string]int), 0
		for name, n := range received {
			byKind[filepath.Ext(name)] += n
			total += n
		}
		if requests > 6 || total > 120*kB {
			t.Errorf("%s: %d requests, %d bytes; at most 6 and %d are good: %v", path, requests, total, 120*kB, received)
		}
		for kind, n := range byKind {
			if bound := bounds[kind]; bound > 0 && n > bound {
				t.Errorf("%s: %d bytes of files %q, more than %d: %v", path, n, kind, bound, received)
			}
		}
	}
}
