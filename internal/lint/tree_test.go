package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const root = "../.."

// tree parses all sources, once for all tests.
var tree = sync.OnceValues(func() ([]source, error) { return sources(root) })

func report(t *testing.T, findings []string) {
	t.Helper()
	slices.Sort(findings)
	for _, finding := range slices.Compact(findings) {
		t.Error(finding)
	}
}

func TestPackages(t *testing.T) {
	all, err := packages(root)
	must.Do(t, err)
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	for name, rule := range map[string]func(pkg) []string{
		"import table": func(p pkg) []string { return importFindings(importTable, p) },
		"layers":       layerFindings,
		"reserved":     restrictedFindings,
		"linked":       linkFindings,
		"doc":          docFindings,
		"reached":      func(p pkg) []string { return reachFindings(reached, p) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range all {
				if p.Error != nil {
					t.Errorf("package %s does not load: %s", p.name(), p.Error.Err)
				}
				report(t, rule(p))
			}
		})
	}
}

func TestSources(t *testing.T) {
	all, err := tree()
	must.Do(t, err)
	pure := 0
	tests := levelsOf(all)
	for _, s := range all {
		report(t, styleFindings(s))
		report(t, levelFindings(s, tests))
		double := strings.HasSuffix(s.packageName(), "test")
		if s.test() || double {
			continue
		}
		report(t, policyFindings(s))
		report(t, containedFindings(s))
		if matchesAny(purePackages, s.packageName()) {
			pure++
			report(t, purityFindings(s))
		}
	}
	if pure == 0 {
		t.Error("no file of the core was found")
	}
}

// TestTags checks that `make lint` vets files that are compiled only with build tags, so that they keep
// compiling between the runs that use them.
func TestTags(t *testing.T) {
	all, err := tree()
	must.Do(t, err)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	must.Do(t, err)
	vetted := regexp.MustCompile(`(?m)^TAGS +:= (.+)$`).FindSubmatch(makefile)
	if vetted == nil || !strings.Contains(string(makefile), "go vet -tags $(TAGS) ./...") {
		t.Fatal("the Makefile does not vet with TAGS")
	}
	if tags := strings.Join(tagsOf(all), ","); tags != string(vetted[1]) {
		t.Errorf("the Makefile vets with the tags %s; files have %s", vetted[1], tags)
	}
}

// TestDocuments checks that the tree has no banned words of docs/glossary.md, and that documents name tests,
// files and directories that exist.
func TestDocuments(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/glossary.md"))
	must.Do(t, err)
	g, err := parseGlossary(string(page))
	must.Do(t, err)
	if len(g) < 10 {
		t.Errorf("docs/glossary.md has only %d banned words", len(g))
	}
	all, err := tree()
	must.Do(t, err)
	for _, s := range all {
		report(t, g.vocabularyFindings(s))
	}
	pages, err := documents(root)
	must.Do(t, err)
	tests := levelsOf(all)
	for path, text := range pages {
		report(t, g.pageFindings(path, text))
		report(t, namedTestFindings(path, text, tests))
		report(t, namedPathFindings(root, path, text))
	}
}

// TestSizes prints the sizes of the tree and of the program, and checks their bounds. Make builds the
// program and names it.
func TestSizes(t *testing.T) {
	all, err := tree()
	must.Do(t, err)
	lines, findings := sizeReport(parts, maxTestLines, sizesOf(parts, all))
	t.Log("\n" + strings.Join(lines, "\n"))
	report(t, findings)
	program := os.Getenv("HAMMR_PROGRAM")
	if program == "" {
		return
	}
	info, err := os.Stat(program)
	must.Do(t, err)
	t.Logf("program      %d bytes, at most %d", info.Size(), maxProgramBytes)
	if info.Size() > maxProgramBytes {
		t.Errorf("the program has %d bytes, more than %d: see `go tool nm -size -sort size`", info.Size(), maxProgramBytes)
	}
}

// TestJobSizes checks the machine code of packages with a job.
func TestJobSizes(t *testing.T) {
	for name, bound := range maxJobBytes {
		out, err := exec.Command("go", "list", "-C", root, "-export", "-f", "{{.Export}}", "./"+name).Output()
		must.Do(t, err)
		symbols, err := exec.Command("go", "tool", "nm", "-size", strings.TrimSpace(string(out))).Output()
		must.Do(t, err)
		bytes := 0
		for line := range strings.Lines(string(symbols)) { // address, size, kind, name
			if f := strings.Fields(line); len(f) > 3 && strings.EqualFold(f[2], "T") {
				size, err := strconv.Atoi(f[1])
				must.Do(t, err)
				bytes += size
			}
		}
		t.Logf("%s %d bytes of code, at most %d", name, bytes, bound)
		if bytes == 0 || bytes > bound {
			t.Errorf("%s has %d bytes of code; expected at most %d: see `go tool nm -size -sort size` of its package", name, bytes, bound)
		}
	}
}
