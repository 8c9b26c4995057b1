package fleet

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/sim/tables"
)

// Result is the outcome of one scenario.
type Result struct {
	Scenario   string    `json:"scenario"`
	Machines   int       `json:"machines"`
	Load       string    `json:"load"` // of 1, 5 and 15 minutes before the run
	Seconds    float64   `json:"seconds"`
	Measures   []Measure `json:"measures"`
	Violations []string  `json:"violations"` // what must not have happened; empty for a good run
}

// Measure is a measured value and its goal.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  string  `json:"goal,omitempty"` // "" for none
	Met   bool    `json:"met"`            // true without a goal
}

// add adds a measure without a goal.
func (r *Result) add(name string, value float64, unit string) {
	r.Measures = append(r.Measures, Measure{Name: name, Value: value, Unit: unit, Met: true})
}

// atMost adds a measure whose goal is an upper bound.
func (r *Result) atMost(name string, value float64, unit string, bound float64) {
	r.Measures = append(r.Measures, Measure{name, value, unit, fmt.Sprintf("≤ %g", bound), value <= bound})
}

// atLeast adds a measure whose goal is a lower bound.
func (r *Result) atLeast(name string, value float64, unit string, bound float64) {
	r.Measures = append(r.Measures, Measure{name, value, unit, fmt.Sprintf("≥ %g", bound), value >= bound})
}

// violated records what must not have happened.
func (r *Result) violated(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// Good reports whether nothing was lost. With strict, every goal must be met too.
func (r *Result) Good(strict bool) bool {
	good := len(r.Violations) == 0
	for _, m := range r.Measures {
		good = good && (m.Met || !strict)
	}
	return good
}

// Print writes the result as a Markdown table.
func (r *Result) Print(w io.Writer) {
	fmt.Fprintf(w, "\n**%s**: %d machines, %.0f s, load before: %s\n\n", r.Scenario, r.Machines, r.Seconds, r.Load)
	t := tables.New("measure", "value|%s", "goal|%s", "met")
	for _, m := range r.Measures {
		met := ""
		if m.Goal != "" {
			met = map[bool]string{true: "yes", false: "no"}[m.Met]
		}
		t.Add(m.Name, fmt.Sprintf("%.4g %s", m.Value, m.Unit), m.Goal, met)
	}
	_ = t.Markdown(w) // an error of the terminal has no other place to go
	for _, v := range r.Violations {
		fmt.Fprintf(w, "\nVIOLATION: %s\n", v)
	}
}

// WriteJSON writes results into a file.
func WriteJSON(file string, results []*Result) error { return jsonfile.Write(file, results, 0o666) }

// millis and mebibytes convert to the units of tables.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
func mebibytes(n int64) float64      { return float64(n) / (1 << 20) }

// leaderUsage returns the name of the leader and what its process has used, as the kernel reports it.
func leaderUsage(ctx context.Context, c *testcluster.Cluster) (leader string, u procfs.Process, err error) {
	if leader, err = c.AwaitLeader(ctx); err != nil {
		return "", u, err
	}
	p, err := c.Process(leader)
	if err == nil {
		u, err = procfs.Find(p.PID)
	}
	return leader, u, err
}

// get reads a path of a master's page.
func get(ctx context.Context, c *testcluster.Cluster, master, path string) ([]byte, error) {
	p, err := c.Process(master)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.HTTP+path, nil)
	if err != nil {
		return nil, err
	}
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	rpc.SetHeaders(request.Header, token, "")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("page of %s: %w", master, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("page of %s: %s: %s", master, path, answer.Status)
	}
	return body, err
}

// metrics returns the metrics of a master, by name with labels.
func metrics(ctx context.Context, c *testcluster.Cluster, master string) (map[string]float64, error) {
	body, err := get(ctx, c, master, "/metrics")
	if err != nil {
		return nil, err
	}
	values := make(map[string]float64)
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); err == nil && !strings.HasPrefix(name, "#") {
			values[name] = v
		}
	}
	return values, nil
}

// heapOf returns the bytes that a master's heap has in use after a garbage collection, which
// it forces.
func heapOf(ctx context.Context, c *testcluster.Cluster, master string) (int64, error) {
	if _, err := get(ctx, c, master, "/debug/pprof/heap?gc=1"); err != nil {
		return 0, err
	}
	values, err := metrics(ctx, c, master)
	return int64(values["go_memstats_heap_alloc_bytes"]), err
}

// profile writes a CPU profile of the leader into a file.
func profile(ctx context.Context, c *testcluster.Cluster, file string, d time.Duration) error {
	leader, err := c.AwaitLeader(ctx)
	if err != nil {
		return err
	}
	body, err := get(ctx, c, leader, fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))))
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o666)
}
