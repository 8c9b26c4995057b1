package masterd

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hammr/hammr/internal/testing/must"
)

var metricName = regexp.MustCompile(`\bhammr_[a-z_]+\b`)

// TestMonitoringUsesMetricsThatExist compares the expressions of the alert rules and of the dashboard in
// deploy/monitoring with the metrics of docs/cluster.md, which a test of e2e compares with /metrics.
func TestMonitoringUsesMetricsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cluster.md")
	must.Do(t, err)
	known := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `(hammr_[a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		known[row[1]] = true
	}
	expressions := append(alertExpressions(t), dashboardExpressions(t)...)
	used := make(map[string]bool)
	for _, e := range expressions {
		names := metricName.FindAllString(e, -1)
		if len(names) == 0 || strings.Count(e, "(") != strings.Count(e, ")") || strings.Count(e, "{") != strings.Count(e, "}") {
			t.Errorf("expression %q", e)
		}
		for _, name := range names {
			used[name] = true
			if !known[name] && !known[regexp.MustCompile("_(sum|count|bucket)$").ReplaceAllString(name, "")] {
				t.Errorf("%s in %q is no metric", name, e)
			}
		}
	}
	if len(expressions) < 20 || len(used) < 15 {
		t.Errorf("only %d expressions with %d metrics", len(expressions), len(used))
	}
}

func alertExpressions(t *testing.T) (list []string) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations struct{ Summary string }
			}
		}
	}
	text, err := os.ReadFile("../../../deploy/monitoring/alerts.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	must.Do(t, err)
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations.Summary == "" {
				t.Errorf("rule %+v", r)
			}
			list = append(list, r.Expr)
		}
	}
	return list
}

func dashboardExpressions(t *testing.T) (list []string) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile("../../../deploy/monitoring/grafana.json")
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	must.Do(t, err)
	for _, p := range dashboard.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %+v", p)
		}
		for _, target := range p.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}
