package lint

import (
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func report(t *testing.T, faults []string) {
	t.Helper()
	slices.Sort(faults)
	for _, fault := range slices.Compact(faults) {
		t.Error(fault)
	}
}

func TestPackages(t *testing.T) {
	all, err := packages(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	for name, rule := range map[string]func(pkg) []string{
		"import table": func(p pkg) []string { return importFindings(importTable, p) },
		"reserved":     restrictedFindings,
		"linked":       linkFindings,
		"doc":          docFindings,
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
	all, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	pure := 0
	for _, s := range all {
		report(t, styleFindings(s))
		double := strings.HasSuffix(s.packageName(), "test")
		if s.test() || double {
			continue
		}
		report(t, policyFindings(s))
		if matchesAny(purePackages, s.packageName()) {
			pure++
			report(t, purityFindings(s))
		}
	}
	if pure == 0 {
		t.Error("no file of the core was found")
	}
}

// TestTags vets what is compiled only with a build tag, so that it does not rot
// between two runs of it by hand.
func TestTags(t *testing.T) {
	all, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	dirs := tagged(all)
	if dirs["soak"] == nil || dirs["hooks"] == nil {
		t.Errorf("files with tags: %v", dirs)
	}
	for tag, dirs := range dirs {
		t.Run(tag, func(t *testing.T) { report(t, vetFindings(root, tag, dirs)) })
	}
}
