package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func parsed(t *testing.T, path, text string) source {
	t.Helper()
	s, err := parse(path, []byte(text))
	must.Do(t, err)
	return s
}

// checkFindings expects one finding with each of the given parts, in order.
func checkFindings(t *testing.T, findings []string, want ...string) {
	t.Helper()
	if len(findings) != len(want) {
		t.Errorf("findings %q, want %d", findings, len(want))
		return
	}
	for i, part := range want {
		if !strings.Contains(findings[i], part) {
			t.Errorf("finding %q lacks %q", findings[i], part)
		}
	}
}

func TestPurityFindings(t *testing.T) {
	for text, want := range map[string]string{
		`import "os"`:                                                             "does not import os",
		`import "net/http"`:                                                       "does not import net/http",
		`import "sync/atomic"`:                                                    "does not import sync/atomic",
		`import "math/rand/v2"`:                                                   "does not import math/rand/v2",
		`import "github.com/hashicorp/raft"`:                                      "does not import github.com/hashicorp/raft",
		`import "time"; var _ = time.Now()`:                                       "does not call time.Now",
		`import clock "time"; var f = clock.Since`:                                "does not call clock.Since",
		`import "fmt"; func f() { fmt.Println() }`:                                "does not call fmt.Println",
		`func f() { go f() }`:                                                     "starts no goroutine",
		`func f() { select {} }`:                                                  "waits for no channel",
		`type t struct{ c chan int }`:                                             "has no channels",
		`import "time"; const d = time.Second`:                                    "",
		`import "math"; var _ = math.Pi`:                                          "",
		`import "fmt"; func f() string { return fmt.Sprint() }`:                   "",
		`import "github.com/hammr/hammr/dag"; var _ dag.Range`:                    "",
		`type t struct{}; func (t) Now() {}; var time t; func f() { time.Now() }`: "",
	} {
		findings := purityFindings(parsed(t, "sched/f.go", "package sched; "+text))
		if want == "" {
			checkFindings(t, findings)
		} else {
			checkFindings(t, findings, want)
		}
	}
}

func TestImportFindings(t *testing.T) {
	table := []row{
		{"a", nil}, {"b", []string{"a"}}, {"b/...", []string{"b"}}, {"b/c/...", []string{"a", "b/..."}}, {"cmd/...", []string{"..."}},
	}
	for _, c := range []struct {
		name, imports string
		want          []string
	}{
		{"a", "fmt os", nil},
		{"b", "a fmt", nil},
		{"a", "b", []string{"package a imports b, which its row \"a\" does not allow (it allows nothing of the module)"}},
		{"b", "b/c", []string{"imports b/c"}},
		{"b/c", "a b", []string{"imports a"}},
		{"b/c/d", "a b/c b", []string{`imports b, which its row "b/c/..."`}},
		{"cmd/x", "a b b/c new", nil},
		{"new", "", []string{"package new is in no row"}},
	} {
		p := pkg{ImportPath: modulePath + "/" + c.name}
		for _, path := range strings.Fields(c.imports) {
			if path != "fmt" && path != "os" {
				path = modulePath + "/" + path
			}
			p.Imports = append(p.Imports, path)
		}
		checkFindings(t, importFindings(table, p), c.want...)
	}
}

func TestRestrictedAndLinkedFindings(t *testing.T) {
	of := func(name string, paths ...string) pkg {
		return pkg{ImportPath: modulePath + "/" + name, Imports: paths, Deps: paths}
	}
	raft, cobra := "github.com/hashicorp/raft-boltdb/v2", "github.com/spf13/cobra"
	checkFindings(t, restrictedFindings(of("jobmaster/raftlog", raft)))
	checkFindings(t, restrictedFindings(of("jobmaster", raft)), "only jobmaster/raftlog may")
	checkFindings(t, restrictedFindings(of("cli", cobra)))
	checkFindings(t, restrictedFindings(of("sched/registry", modulePath+"/sched/hfsp", modulePath+"/sched/fifo")))
	checkFindings(t, restrictedFindings(of("cli", modulePath+"/sched/hfsp", modulePath+"/sched/registry")), "only sched/registry may: a policy of a name is the same")
	checkFindings(t, restrictedFindings(of("sim", modulePath+"/sched/fifo")), "package sim imports "+modulePath+"/sched/fifo")
	checkFindings(t, linkFindings(of("cli", modulePath+"/mr", raft, cobra)))
	checkFindings(t, linkFindings(of("examples/sort", modulePath+"/mr", raft, cobra)), "links "+raft, "links "+cobra)
	checkFindings(t, linkFindings(of("mr", cobra)), "links "+cobra)
	checkFindings(t, linkFindings(of("tasknode", modulePath+"/mr")), "the daemons know tasks")
}

func TestPolicyFindings(t *testing.T) {
	const policy = "func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) { return }"
	for _, c := range []struct{ path, text, want string }{
		{"sched/hfsp/policy.go", policy, ""},
		{"sim/own.go", policy, "sim/own.go:1: a policy outside of the packages that only sched/registry imports"},
		{"sched/new/policy.go", policy, "sched/new/policy.go:1: a policy outside"},
		{"sim/own.go", "func Decide() sched.Plan { return nil }; func (a A) Decide() bool { return true }; func (a A) Decide() {}", ""},
	} {
		findings := policyFindings(parsed(t, c.path, "package p; "+c.text))
		if c.want == "" {
			checkFindings(t, findings)
		} else {
			checkFindings(t, findings, c.want)
		}
	}
}

func TestContainedFindings(t *testing.T) {
	const imports = `package p; import "` + modulePath + `/cluster"; `
	for _, c := range []struct{ path, text, want string }{
		{"sim/body.go", imports + "func f() { b.state.Apply(cluster.Entry{}) }", "sim/body.go:1: a panic in Apply"},
		{"sim/body.go", imports + "func f() { b.state.ApplyContained(e, nil); raft.Apply(data, timeout) }", ""},
		{"sim/body.go", "package p; func f() { w.Apply(option) }", ""},
		{"cluster/state.go", "package cluster; func f() { s.Apply(e) }", ""},
	} {
		if findings := containedFindings(parsed(t, c.path, c.text)); c.want == "" {
			checkFindings(t, findings)
		} else {
			checkFindings(t, findings, c.want)
		}
	}
}

func TestStyleFindings(t *testing.T) {
	mark := "TO" + "DO"
	long := strings.Repeat("\t_ = 0\n", maxFunctionLines)
	for _, c := range []struct {
		path, text string
		want       []string
	}{
		{"a.go", "package a\n// " + mark + ": more\n", []string{"a.go:2: " + mark}},
		{"a.go", "package a\nconst s = \"" + mark + "\"\n", nil},
		{"a.go", "package a\nfunc f() {\n" + long + "}\n", []string{fmt.Sprintf("%d lines in function f", maxFunctionLines+2)}},
		{"a.go", "package a\n" + strings.Repeat("\n", maxFileLines), []string{"lines in a file"}},
		{"a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n" + strings.Repeat("\n", maxFileLines), nil},
		{"a_test.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", []string{"a_test.go:3: time.Sleep in a test"}},
		{"a.go", "package a\nvar x, y = 1, regexp.MustCompile(`x`)\n", []string{"a.go:2: a regular expression is compiled before main"}},
		{"a.go", "package a\nvar x = pattern.New(`x`)\nvar f = func() { regexp.MustCompile(`x`) }\nfunc g() { regexp.MustCompile(`x`) }\n", nil},
		{"a_test.go", "package a\nvar x = regexp.MustCompile(`x`)\n", nil},
		{"a_test.go", "package a\nimport (\"time\"; \"testing/synctest\")\nfunc f() { time.Sleep(1); synctest.Wait() }\n", nil},
		{"a.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", nil},
		{"a.go", "package a\nimport \"net/http\"\nvar s = &http.Server{}\nvar err = http.ListenAndServe(\"\", nil)\n", []string{"a.go:3: an HTTP server without bounds", "a.go:4: an HTTP server"}},
		{"internal/rpc/httpserver/a.go", "package a\nimport \"net/http\"\nvar s = &http.Server{}\n", nil},
		{"a_test.go", "package a\nimport \"net/http\"\nvar s = &http.Server{}\n", nil},
	} {
		checkFindings(t, styleFindings(parsed(t, c.path, c.text)), c.want...)
	}
}

func TestDocFindings(t *testing.T) {
	p := pkg{ImportPath: modulePath + "/a", GoFiles: []string{"a.go"}}
	checkFindings(t, docFindings(p), "package a has no doc comment")
	p.Doc = "Package a is a."
	checkFindings(t, docFindings(p))
}

func TestLayerFindings(t *testing.T) {
	for importer, want := range map[string][]string{
		"internal/docs":      {"package internal/docs imports internal/web from the higher layer internal/web, internal/web/...: move"},
		"chaos":              {"package chaos imports internal/web from the higher layer"},
		"internal/web":       nil,
		"internal/web/pages": nil,
		"chaos/drill":        nil,
		"e2e":                nil,
	} {
		checkFindings(t, layerFindings(pkg{ImportPath: modulePath + "/" + importer, Imports: []string{"fmt", modulePath + "/internal/web"}}), want...)
	}
}

func TestEveryRowHasItsOwnPattern(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range importTable {
		if seen[r.pattern] {
			t.Errorf("two rows for %s", r.pattern)
		}
		seen[r.pattern] = true
	}
}

func TestOwnTags(t *testing.T) {
	for text, want := range map[string]string{
		"package p":                    "",
		"//go:build soak\n\npackage p": "soak",
		"//go:build !soak && (hooks || linux)\n\npackage p": "soak hooks",
		"//go:build race || !amd64\n\npackage p":            "",
		"package p\n\n//go:build soak\n":                    "",
	} {
		if got := strings.Join(ownTags(parsed(t, "p/f.go", text)), " "); got != want {
			t.Errorf("%q has tags %q, want %q", text, got, want)
		}
	}
}

func TestLevelFindings(t *testing.T) {
	const nightly = "package p; import (\"testing\"; \"x/testlevel\")\n"
	other := parsed(t, "web/a_test.go", "package p\nfunc TestPages(t *testing.T) {}\n")
	tagged := parsed(t, "web/b_test.go", "//go:build soak\n\npackage p\nfunc TestSoak(t *testing.T) {}\n")
	for text, want := range map[string][]string{
		"func TestA(t *testing.T) { testlevel.Nightly(t) }":                                                       {"name the tests that stay"},
		"// TestA is one.\n//\n// Gate: TestB, web.TestPages\nfunc TestA(t *testing.T) { testlevel.Nightly(t) }":  nil,
		"// Gate: TestC\nfunc TestA(t *testing.T) { testlevel.Nightly(t) }":                                       {"no test e2e.TestC"},
		"// Gate: TestA\nfunc TestA(t *testing.T) { testlevel.Nightly(t) }":                                       {"e2e.TestA does not run in the gate"},
		"// Gate: web.TestSoak\nfunc TestA(t *testing.T) { testlevel.Nightly(t) }":                                {"web.TestSoak does not run in the gate"},
		"func TestA(t *testing.T) { t.Run(\"\", func(t *testing.T) {\n// Gate: TestB\ntestlevel.Nightly(t)\n}) }": nil,
		"// Gate: TestB\nfunc helper(t *testing.T) { testlevel.Nightly(t) }":                                      nil,
		"func TestA(t *testing.T) { t.Run(\"\", func(t *testing.T) {\n// slow\ntestlevel.Nightly(t)\n}) }":        {"name the tests that stay"},
	} {
		s := parsed(t, "e2e/a_test.go", nightly+text+"\nfunc TestB(t *testing.T) {}")
		checkFindings(t, levelFindings(s, levelsOf([]source{s, other, tagged})), want...)
	}
}

func TestNamedTestFindings(t *testing.T) {
	tests := levels{{"web", "TestPages"}: false, {"e2e", "TestDrillOnHDFS"}: true}
	checkFindings(t, namedTestFindings("a.md", "`TestPages`, TestDrill… and TestDFSIO test it.", tests))
	checkFindings(t, namedTestFindings("a.md", "`TestPagesInBrowser` (web)", tests), "a.md: there is no test TestPagesInBrowser")
}

func TestReachFindings(t *testing.T) {
	table := []reach{{"mr", []string{"x.org/a", "x.org/b"}, 4}}
	of := func(deps ...string) pkg { return pkg{ImportPath: modulePath + "/mr", Deps: deps} }
	checkFindings(t, reachFindings(table, of("fmt", "x.org/a/sub", "x.org/b", modulePath+"/dag")))
	checkFindings(t, reachFindings(table, of("x.org/ab", "x.org/a", "x.org/b")), "mr links x.org/ab")
	checkFindings(t, reachFindings(table, of("x.org/a")), "no longer links x.org/b")
	checkFindings(t, reachFindings(table, of("x.org/a", "x.org/b", modulePath+"/internal/testing/testlevel")), "for tests only")
	checkFindings(t, reachFindings(table, of("x.org/a", "x.org/b", "fmt", "io", "os")), "links 5 packages, more than the 4")
	checkFindings(t, reachFindings(table, pkg{ImportPath: modulePath + "/dag", Deps: []string{"y.org/a"}}))
}

func TestSizeReport(t *testing.T) {
	const text = "// Package p.\npackage p\n\nfunc f() { // one\n\t/* two */\n\tg(`a\n\n`)\n}\n"
	if got := codeLines([]byte(text)); got != 6 {
		t.Errorf("%d lines of code, want 6", got)
	}
	table := []part{{"pages", []string{"web/..."}, 5}, {"rest", []string{"..."}, 6}}
	all := []source{
		parsed(t, "web/a/a.go", text), parsed(t, "b/b.go", text), parsed(t, "b/b_test.go", text),
		parsed(t, "b/c.go", "// Code generated by x. DO NOT EDIT.\n"+text),
	}
	lines, findings := sizeReport(table, 6, sizesOf(table, all))
	if len(lines) != 4 || !strings.Contains(lines[2], " 12 lines, at most 11") {
		t.Errorf("report %q", lines)
	}
	checkFindings(t, findings, "pages has 6 lines of code", "all code has 12 lines")
}
