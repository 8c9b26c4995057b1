package storage_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
	"pgregory.net/rapid"
)

func memWith(t testing.TB, names ...string) *mem.FS {
	m := mem.New(mem.Options{})
	for _, name := range names {
		storagetest.Write(t, m, name, []byte(name))
	}
	return m
}

func paths(infos []storage.FileInfo) []string {
	var names []string
	for _, info := range infos {
		names = append(names, info.Path)
	}
	return names
}

func TestGlob(t *testing.T) {
	m := memWith(t, "/a/x1", "/a/x2", "/a/y", "/a/sub/x1", "/b/x1", "/b/{odd}", "/b/[z]", "/ä/*", "/c")
	for pattern, want := range map[string]string{
		"/":                  "/",
		"/a/x1":              "/a/x1",
		"/none":              "",
		"/a/x1/below":        "",
		"/*":                 "/a /b /c /ä",
		"/*/x1":              "/a/x1 /b/x1",
		"/*/*/x1":            "/a/sub/x1",
		"/a/x?":              "/a/x1 /a/x2",
		"/a/x[2-9]":          "/a/x2",
		"/a/x[^1]":           "/a/x2",
		"/a/x[!2]":           "/a/x1",
		"/{b/x1,a/{x1,y}}":   "/a/x1 /a/y /b/x1",
		"/a/{x1,x*,x1}":      "/a/x1 /a/x2",
		"/a/{x1}":            "/a/x1",
		"/a/x{1,}":           "/a/x1",
		`/b/\{odd\}`:         "/b/{odd}",
		"/b/[{]odd}":         "/b/{odd}",
		`/b/\[z]`:            "/b/[z]",
		"/b/[[]z[]]":         "/b/[z]",
		"/?/y":               "/a/y",
		`/?/\*`:              "/ä/*",
		"/[à-ö]/*":           "/ä/*",
		"/a//sub/":           "/a/sub",
		"/c/*":               "",
		"/none/*/x":          "",
		"/{a,c,none}/{x1,y}": "/a/x1 /a/y",
	} {
		infos, err := storage.Glob(t.Context(), m, pattern)
		if got := strings.Join(paths(infos), " "); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
}

func TestGlobErrors(t *testing.T) {
	m := memWith(t, "/a/f")
	for _, pattern := range []string{"/{a", "/a[", "/[", "/[^", "/a[b-", `/a\`, "/[z-a]", "/{a,{b,c}", "/[]",
		strings.Repeat("{a,b}", 14), `/[a\`} {
		if _, err := storage.Glob(t.Context(), m, pattern); !errors.Is(err, storage.ErrPattern) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	f := fault.New(m, fault.Options{}, fault.Rule{Op: fault.List, Path: "/a", Err: fault.ErrInjected})
	if _, err := storage.Glob(t.Context(), f, "/*/*"); !errors.Is(err, fault.ErrInjected) {
		t.Errorf("unreadable directory: %v", err)
	}
}

// TestPatternAgainstRegexp compares the matcher with an equivalent regular expression.
func TestPatternAgainstRegexp(t *testing.T) {
	atoms := map[string]string{"*": "[^/]*", "?": "[^/]", "a": "a", "b": "b", "[ab]": "[ab]", "[^a]": "[^a/]",
		"{a,bb}": "(a|bb)", `\*`: `\*`, "{a*,}": "(a[^/]*|)"}
	rapid.Check(t, func(t *rapid.T) {
		var glob, expr string
		for _, atom := range rapid.SliceOfN(rapid.SampledFrom([]string{"*", "?", "a", "b", "[ab]", "[^a]", "{a,bb}", `\*`, "{a*,}"}), 1, 8).Draw(t, "atoms") {
			glob, expr = glob+atom, expr+atoms[atom]
		}
		p, err := storage.CompilePattern(glob)
		must.Do(t, err)
		name := rapid.StringMatching("[ab*]{1,8}").Draw(t, "name")
		if got, want := p.Match(name), regexp.MustCompile("^"+expr+"$").MatchString(name); got != want {
			t.Errorf("%s on %s: %v, want %v", glob, name, got, want)
		}
	})
}

func TestMatchIsNotExponential(t *testing.T) {
	p, err := storage.CompilePattern(strings.Repeat("*a", 200) + "b")
	must.Do(t, err)
	if p.Match(strings.Repeat("a", 5000)) {
		t.Error("matched")
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"/a/*", "[^a-c]?", `{a,{b,c\}}}`, "[]]", "\xff*", "{,}{,}", `\`} {
		f.Add(seed, "/a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := storage.CompilePattern(pattern)
		if err != nil {
			if !errors.Is(err, storage.ErrPattern) {
				t.Errorf("%q: %v", pattern, err)
			}
			return
		}
		p.Match(name)
		if !storage.HasGlob(pattern) && strings.Trim(pattern, "/") != "" && !strings.Contains(pattern, "//") && !p.Match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}

func TestWalk(t *testing.T) {
	m := memWith(t, "/d/b/2", "/d/a", "/d/b/1", "/d/c/x", "/e")
	var got []string
	for info, err := range storage.Walk(t.Context(), m, "/d") {
		must.Do(t, err)
		got = append(got, info.Path)
	}
	want := []string{"/d", "/d/a", "/d/b", "/d/b/1", "/d/b/2", "/d/c", "/d/c/x"}
	if !slices.Equal(got, want) {
		t.Errorf("walked %q, want %q", got, want)
	}
	f := fault.New(m, fault.Options{}, fault.Rule{Op: fault.List, Path: "/d/b", Err: fault.ErrInjected})
	errs, seen := 0, 0
	for info, err := range storage.Walk(t.Context(), f, "/d") {
		if err != nil && info.Path != "/d/b" {
			t.Errorf("%s: %v", info.Path, err)
		}
		if err != nil {
			errs++
		} else {
			seen++
		}
	}
	if errs != 1 || seen != 5 {
		t.Errorf("%d errors, %d seen", errs, seen)
	}
}
