package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/hammr/hammr/internal/testing/browsertest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestFormsWithoutScript submits the forms of all pages in a browser without scripts: one of each kind in the gate, such
// as those that kill a job.
func TestFormsWithoutScript(t *testing.T) {
	b := browsertest.Start(t)
	f := newFake("nightly sort")
	h := newHandler(t, f)
	server, _ := serveHandler(t, h)
	tab := b.Open(t, browsertest.View{NoScript: true})
	signIn(tab, server)
	done := make(map[string]bool)
	for _, path := range shownPages() {
		for _, action := range formsOf(t, request(h, path, nil).Body.String()) {
			kind := action
			if parts := strings.Split(action, "/"); testlevel.Choose(len(parts) == 4, false) {
				kind = "/" + parts[1] + "/…/" + parts[3]
			}
			if done[kind] {
				continue
			}
			done[kind], done[action] = true, true
			acted := len(f.acted)
			tab.Go(server + path)
			form := fmt.Sprintf(`document.querySelector('main form[action=%q]')`, action)
			tab.Follow(form + `.querySelectorAll("input:required:not([value])").forEach(e => e.value = "default"); ` + form + ".requestSubmit()")
			if text := browsertest.Eval[string](tab, `document.querySelector("main").innerText`); len(f.acted) != acted+1 && strings.Contains(action, "/") && !strings.Contains(text, "preview") {
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

// formsOf returns the actions of the forms by which a page changes the cluster.
func formsOf(t *testing.T, page string) (actions []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	must.Do(t, err)
	for n := range root.Descendants() {
		if n.DataAtom != atom.Form || !isWithin(n, atom.Main) {
			continue
		}
		values := make(map[string]string)
		for _, a := range n.Attr {
			values[a.Key] = a.Val
		}
		if values["method"] == "post" && values["action"] != "/login" {
			actions = append(actions, values["action"])
		}
	}
	return actions
}

// isWithin reports whether a node is in an element of a kind.
func isWithin(n *html.Node, kind atom.Atom) bool {
	for p := range n.Ancestors() {
		if p.DataAtom == kind {
			return true
		}
	}
	return false
}
