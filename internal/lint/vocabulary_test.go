package lint

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func testGlossary(t *testing.T, rows string) glossary {
	t.Helper()
	g, err := parseGlossary("# Glossary\n\n" + bannedHeading + "\n\nAbout it.\n\n| word | where | use instead |\n|---|---|---|\n" + rows + "\n## After\n\n| a | b | c |\n")
	must.Do(t, err)
	return g
}

func TestVocabularyFindings(t *testing.T) {
	g := testGlossary(t, `| goes on, go on | text | resumes |
| deed | both | action |
| held | identifiers; not in raft, raft/... | reserved |
`)
	for _, c := range []struct {
		path, text string
		want       []string
	}{
		{"a/f.go", "func deedOf() {}", []string{`a/f.go:3: "deed" is not a word of the glossary; use: action`}},
		{"a/f.go", "func Indeed() {}", nil},
		{"a/f.go", "type t struct { HTTPDeed int; x int }", []string{`"deed"`}},
		{"a/f.go", "func f(held int) (isHeld bool) { return }", []string{`use: reserved`, `use: reserved`}},
		{"raft/log/f.go", "func f(held int) {}", nil},
		{"a/f.go", "func f() { g, held := 1, 2; for deed := range g {} }", []string{"held", "deed"}},
		{"a/f.go", "func f() { x.held = deed }", nil},
		{"a/f.go", "// A task goes\n// on. Go, on the other hand, is held.\nvar x int", []string{`a/f.go:3: "goes on"`}},
		{"a/f.go", "// It calls `go on` of deed.go.\nvar x int", []string{"deed"}},
		{"a/f.go", `var x = "the task goes on"`, []string{`"goes on"`}},
		{"a/f.go", `var x = "deed"`, nil},
		{"a/f.go", "type t struct { x int `json:\"deed\" cbor:\"Deed\"` }", nil},
		{"a/f_test.go", `var x = "the task goes on"`, nil},
		{"a/f.go", "//go:generate deed\nvar x int", nil},
	} {
		checkFindings(t, g.vocabularyFindings(parsed(t, c.path, "package p\n\n"+c.text)), c.want...)
	}
}

func TestPageFindings(t *testing.T) {
	g := testGlossary(t, "| goes on | text | resumes |\n")
	page := "# A task goes on\n\n```\ngoes on\n```\n\nIt goes\non. `goes on` [goes](goes on)\n\n" + bannedHeading + "\n\ngoes on\n\n## Next\n\ngoes on\n"
	checkFindings(t, g.pageFindings("docs/a.md", page), "docs/a.md:1: ", "docs/a.md:7: ", "docs/a.md:16: ")
}

func TestGlossaryRowsAreChecked(t *testing.T) {
	for rows, want := range map[string]string{
		"| a | b |\n":              "2 cells",
		"| a | somewhere | b |\n":  `not in "somewhere"`,
		"| a | identifiers | |\n":  "what to use instead",
		"|  | identifiers | b |\n": "expected a word",
	} {
		if _, err := parseGlossary(bannedHeading + "\n\n" + rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", rows, err, want)
		}
	}
	if _, err := parseGlossary("# Glossary\n"); err == nil {
		t.Error("a page without a table is accepted")
	}
}
