package mr_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// module is the root of the source tree, relative to this package.
const module = ".."

// build compiles programs, without linking them, and returns the compiler's errors, or "" if there are
// none. An overlay places program i in a package overlayi inside this directory.
func build(t *testing.T, sources ...string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(module)
	must.Do(t, err)
	var replace, patterns []string
	for i, source := range sources {
		file := filepath.Join(dir, fmt.Sprintf("p%d.go", i))
		must.Do(t, os.WriteFile(file, []byte(source), 0o644))
		replace = append(replace, fmt.Sprintf("%q:%q", filepath.Join(root, "mr", fmt.Sprintf("overlay%d", i), "main.go"), file))
		patterns = append(patterns, fmt.Sprintf("./mr/overlay%d", i))
	}
	overlay := filepath.Join(dir, "overlay.json")
	must.Do(t, os.WriteFile(overlay, []byte(`{"Replace":{`+strings.Join(replace, ",")+`}}`), 0o644))
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-overlay", overlay}, patterns...)...)
	var said strings.Builder
	// Without cgo, as most packages of the gate are compiled.
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "CGO_ENABLED=0"), &said
	if err := cmd.Run(); (err != nil) != (said.Len() > 0) {
		t.Fatalf("go list: %v\n%s", err, said.String())
	}
	return said.String()
}

// program returns the source of a word count with this reducer, output and combiner.
func program(reducer, output, combiner string) string {
	return `package main

import "github.com/hammr/hammr/mr"

var job = mr.New("typed", mr.TextLines(),
	mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[string, int64]) error {
		out.Emit(string(line), 1)
		return nil
	}),
	` + reducer + `,
	` + output + `,
)` + combiner + `

func main() { mr.Main(job) }
`
}

// TestTypesThatDoNotFit checks that the compiler rejects mismatched types, from mapper to
// reducer and from reducer to output.
func TestTypesThatDoNotFit(t *testing.T) {
	const sum, text = "mr.Sum[string, int64]()", "mr.TextOutput[string, int64]()"
	if said := build(t, program(sum, text, ".Combine("+sum+")")); said != "" {
		t.Fatalf("a program whose types fit does not compile:\n%s", said)
	}
	names := []string{"key of the reducer", "value of the reducer", "output", "combiner"}
	said := build(t,
		program("mr.Sum[[]byte, int64]()", "mr.TextOutput[[]byte, int64]()", ""),
		program("mr.Sum[string, float64]()", "mr.TextOutput[string, float64]()", ""),
		program(sum, "mr.TextOutput[string, string]()", ""),
		program(sum, text, ".Combine(mr.Sum[string, float64]())"),
	)
	for i, name := range names {
		if !regexp.MustCompile(fmt.Sprintf(`(p%d|overlay%d/main)\.go:\d+:\d+: .*(does not match|cannot use|does not implement|wrong type)`, i, i)).MatchString(said) {
			t.Errorf("%s: the compiler says %q", name, said)
		}
	}
}

// TestProgramsInDocumentsCompile builds the complete programs that the documentation shows.
func TestProgramsInDocumentsCompile(t *testing.T) {
	var programs []string
	for _, name := range []string{"README.md", "docs/programming.md"} {
		text, err := os.ReadFile(filepath.Join(module, name))
		must.Do(t, err)
		for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(block[1], "package ") {
				programs = append(programs, block[1])
			}
		}
	}
	if len(programs) == 0 {
		t.Fatal("no document shows a whole program")
	}
	if said := build(t, programs...); said != "" {
		t.Errorf("programs that do not compile:\n%s", said)
	}
}
