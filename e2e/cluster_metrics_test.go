package e2e

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestMetricsAreDocumented compares the metrics of a leader and of a tasknode with the tables
// in docs/cluster.md: each metric has a row with its type and its text, and each row is a
// metric. It checks them as promtool does.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	page, err := os.ReadFile("../docs/cluster.md")
	must.Do(t, err)
	_, text, _ := strings.Cut(string(page), "### Metrics\n")
	text, _, _ = strings.Cut(text, "\n### ")
	master, rest, _ := strings.Cut(text, "Every tasknode:")
	tasknode, both, ok := strings.Cut(rest, "Both:")
	if !ok {
		t.Fatal("docs/cluster.md has no tables of metrics")
	}
	compare(t, "jobmaster", e.state.Masters[0].HTTP, documentedMetrics(master+both), "hammr_tasknodes")
	compare(t, "tasknode", e.state.Tasknodes[0].HTTP, documentedMetrics(tasknode+both), "hammr_attempts_total")
}

// metricRow is a metric by its name: its type and text.
type metricRow struct{ kind, text string }

var metricsRow = regexp.MustCompile("(?m)^\\| `(hammr_[a-z_]+)` \\| [^|]+ \\| (\\w+) \\| (.+) \\|$")

func documentedMetrics(tables string) map[string]metricRow {
	rows := make(map[string]metricRow)
	for _, row := range metricsRow.FindAllStringSubmatch(tables, -1) {
		rows[row[1]] = metricRow{row[2], row[3]}
	}
	return rows
}

var (
	metricHelp = regexp.MustCompile(`(?m)^# HELP (hammr_\S+) (.+)$`)
	metricType = regexp.MustCompile(`(?m)^# TYPE (hammr_\S+) (\w+)$`)
)

// compare reads the metrics of a daemon until it shows the last one, since a loop publishes
// once a second.
func compare(t *testing.T, daemon, address string, want map[string]metricRow, last string) {
	t.Helper()
	var got map[string]metricRow
	waitUntil(t, daemon+" shows "+last, func() bool {
		got = readMetrics(t, address)
		_, ok := got[last]
		return ok
	})
	problems, err := promlint.New(bytes.NewReader(readPage(t, address))).Lint()
	must.Do(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s: %s", daemon, p.Metric, p.Text)
	}
	for name, row := range got {
		if want[name] != row {
			t.Errorf("%s: docs/cluster.md has %q for %s, /metrics has %q", daemon, want[name], name, row)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: docs/cluster.md has %s, /metrics has not", daemon, name)
		}
	}
}

// readPage reads /metrics at an address.
func readPage(t *testing.T, address string) []byte {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + address + "/metrics")
	must.Do(t, err)
	text, err := io.ReadAll(answer.Body)
	must.Do(t, err)
	must.Do(t, answer.Body.Close())
	return text
}

// readMetrics reads the metrics on the page at an address.
func readMetrics(t *testing.T, address string) map[string]metricRow {
	t.Helper()
	text := readPage(t, address)
	rows := make(map[string]metricRow)
	for _, help := range metricHelp.FindAllStringSubmatch(string(text), -1) {
		rows[help[1]] = metricRow{text: help[2]}
	}
	for _, kind := range metricType.FindAllStringSubmatch(string(text), -1) {
		rows[kind[1]] = metricRow{kind[2], rows[kind[1]].text}
	}
	return rows
}
