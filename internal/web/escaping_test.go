package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// structure counts the elements of a page with the names of their attributes, as a browser would build them.
func structure(t *testing.T, page string) map[string]int {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	must.Do(t, err)
	count := make(map[string]int)
	for n := range root.Descendants() {
		kind := n.Data
		switch n.Type {
		case html.ElementNode:
			for _, a := range n.Attr {
				kind += " " + a.Key
			}
		case html.CommentNode:
			kind = "comment"
		default:
			continue
		}
		count[kind]++
	}
	return count
}

// TestHostileNamesAddNoElements shows pages in which everything that a user names has a hostile name. They have the
// elements and attributes of the same pages with a plain name, so a browser has nothing to run.
func TestHostileNamesAddNoElements(t *testing.T) {
	paths := slices.Concat(shownPages(), historyPages(), []string{"/attempts/" + anOver + "/logs?follow=yes"})
	pages := func(name string) map[string]map[string]int {
		f := newFake(name)
		f.addWork(name, 60, 8)
		h := newHandler(t, f)
		found := make(map[string]map[string]int)
		for _, path := range paths {
			w := request(h, path, nil)
			if w.Code < 500 && w.Code != http.StatusSeeOther {
				found[path] = structure(t, w.Body.String())
			}
		}
		return found
	}
	plain := pages("name o")
	if elements := len(plain["/"]); elements < 20 || len(plain) < 25 {
		t.Fatalf("%d pages, the first has %d kinds of elements", len(plain), elements)
	}
	for group := range slices.Chunk(corpus, testlevel.Choose(4, 1)) {
		// An escape sequence adds an element: it colours a log. The o is what a page searches for.
		name := strings.ReplaceAll(strings.Join(group, " "), "\x1b", "") + " o"
		for path, got := range pages(name) {
			if !maps.Equal(got, plain[path]) {
				t.Errorf("%s with the name %q: %s", path, name, otherElements(got, plain[path]))
			}
		}
	}
}

// otherElements describes the elements of which one page has more or less than another.
func otherElements(got, want map[string]int) string {
	var b strings.Builder
	kinds := maps.Clone(want)
	maps.Copy(kinds, got)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if got[kind] != want[kind] {
			fmt.Fprintf(&b, "<%s>: %d, want %d; ", kind, got[kind], want[kind])
		}
	}
	return b.String()
}
