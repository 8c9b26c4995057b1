package web

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/testing/browsertest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

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
// cluster, and the picture of the timeline's window has replaced the still one.
const settled = `(async () => {
	const frame = () => new Promise(requestAnimationFrame), state = document.getElementById("live-state");
	while (state && state.textContent !== "live" || document.querySelector("#timeline > svg.still")) await frame();
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
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, png, 0o600)))
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
		// An element counts as reached if it gets the focus, which the page can see: an outline. Chromium may
		// give the first element the focus before it knows that a key has moved it; then the next time counts.
		// A script may replace elements meanwhile, as that of the timeline does at first: those that are there count.
		browsertest.Eval[bool](tab, `window.reached = new Set();
			window.left = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(e => e.checkVisibility() && e.type !== "hidden" && !e.disabled && !reached.has(e));
			window.noOutline = new Set();
			document.addEventListener("focusin", e => { reached.add(e.target); noOutline[getComputedStyle(e.target).outlineStyle === "none" ? "add" : "delete"](e.target); });
			document.body.focus(); true`)
		for range 8 {
			tab.Press(strings.Repeat("\t", 50))
			if browsertest.Eval[int](tab, "left().length + noOutline.size") == 0 {
				break
			}
		}
		if left := browsertest.Eval[[]string](tab, "left().map(e => e.outerHTML.slice(0, 100))"); len(left) > 0 {
			t.Errorf("%s: the keyboard does not reach %q", path, left)
		}
		if none := browsertest.Eval[[]string](tab, "[...noOutline].map(e => e.outerHTML.slice(0, 80))"); len(none) > 0 {
			t.Errorf("%s: no outline around %q", path, none)
		}
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
