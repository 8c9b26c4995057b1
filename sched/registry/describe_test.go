package registry

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
)

// TestDescribedSettingsAreThoseThatPoliciesRead makes each policy with a setting that it does not
// know. The error lists the settings that it knows.
func TestDescribedSettingsAreThoseThatPoliciesRead(t *testing.T) {
	for _, policy := range Names() {
		var described []string
		for _, s := range SettingsOf(policy) {
			described = append(described, s.Name)
		}
		read := map[string]bool{}
		conf := map[string]string{"hammr.chronos.none": "x", "none": "x"}
		for range 2 {
			_, err := New(policy, conf, sched.Setup{})
			if err == nil {
				t.Fatalf("%s takes unknown settings", policy)
			}
			for line := range strings.Lines(err.Error()) {
				_, list, _ := strings.Cut(strings.TrimSpace(line), "choose one of ")
				for _, name := range strings.Split(list, ", ") {
					if name != "" && name != Allocations {
						read[name] = true
					}
				}
			}
			delete(conf, "hammr.chronos.none") // then the wrapped policy complains
		}
		for name := range read {
			if !slices.Contains(described, name) {
				t.Errorf("%s reads %s, which is not described", policy, name)
			}
		}
		for _, name := range described {
			if !read[name] && !(policy == chronosName && len(read) == 0) && name != ChronosPolicy {
				t.Errorf("%s is described with %s, which it does not read", policy, name)
			}
		}
	}
}

// TestDescribedValuesAreAccepted sets each setting to its default, and to each of its values.
func TestDescribedValuesAreAccepted(t *testing.T) {
	for _, policy := range Names() {
		for _, s := range append(SharedSettings(), SettingsOf(policy)...) {
			for _, value := range append([]string{s.Default}, s.Values...) {
				if s.Name == MapPreemption || s.Name == ReducePreemption || value == "" || s.Name == "hammr.hfsp.estimator" && value == "oracle" {
					continue
				}
				if _, err := New(policy, map[string]string{s.Name: value}, sched.Setup{}); err != nil {
					t.Errorf("%s with %s=%s: %v", policy, s.Name, value, err)
				}
			}
			if s.Doc == "" || s.Range == "" || s.Default != "" && s.Values != nil && !slices.Contains(s.Values, s.Default) {
				t.Errorf("%s: setting %+v", policy, s)
			}
		}
	}
}

// settingsTable returns the table of docs/schedulers.md.
func settingsTable() string {
	var out strings.Builder
	out.WriteString("| policy | setting | values | default | meaning |\n|---|---|---|---|---|\n")
	group := func(name string, settings []Setting) {
		for _, s := range settings {
			values := s.Range
			if s.Type == Millis {
				values = "ms " + values
			}
			fmt.Fprintf(&out, "| %s | `%s` | %s | %s | %s |\n", name, s.Name, values, s.Default, s.Doc)
			name = ""
		}
	}
	group("all", SharedSettings())
	for _, policy := range []string{"fair", "hammr", "hfsp", "disco", "chronos"} {
		group(policy, SettingsOf(policy))
	}
	return out.String()
}

func TestTableOfSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/schedulers.md")
	must.Do(t, err)
	if !strings.Contains(string(page), settingsTable()) {
		t.Errorf("docs/schedulers.md lacks this table:\n%s", settingsTable())
	}
}
