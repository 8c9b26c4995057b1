// Package growth draws what an event of the simulator costs each policy as jobs, machines
// and queues grow. It reads the output of BenchmarkGrowth of package sim:
//
//	go test -run '^$' -bench Growth -benchtime 1x ./sim | hammr bench growth --out docs/growth
package growth

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/sim/plot"
)

// axes lists the quantities that grow, with a picture for each. key is the quantity's name
// in the benchmarks. "nodes" is the benchmark's name for machines.
var axes = []struct{ key, title, x string }{
	{"jobs", "Jobs, one after the other", "jobs"},
	{"nodes", "Machines, with as many maps for each", "machines"},
	{"queue", "Jobs that all wait at once", "jobs"},
}

// costUnit is the drawn metric. BenchmarkGrowth reports it with testing.B.ReportMetric.
const costUnit = "µs/event"

// curves has the points by the key of an axis, then by policy. A curve that rises shows a
// policy whose cost for each event depends on the size of the cluster or of the queue.
type curves map[string]map[string][]plot.Point

// Draw reads the output of the benchmark, and writes growth.svg into a directory, which it
// creates. Policies are drawn in the order of their names.
func Draw(in io.Reader, out string) error {
	all, err := read(in)
	if err != nil {
		return err
	}
	var panels []*plot.Figure
	for _, a := range axes {
		var lines []plot.Line
		for _, policy := range slices.Sorted(maps.Keys(all[a.key])) {
			points := all[a.key][policy]
			slices.SortFunc(points, func(p, q plot.Point) int { return cmp.Compare(p.X, q.X) })
			lines = append(lines, plot.Line{Name: policy, Points: points})
		}
		panels = append(panels, plot.Lines(plot.Axes{Title: a.title, X: a.x, Y: "µs for each event", LogX: true}, lines...))
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	return plot.Grid("", 1, panels...).Save(out, "growth")
}

// read parses the results of benchmarks named Growth/policy=P/WHAT=N, and ignores other
// benchmarks in the same output. A Growth benchmark with another form of name is an error,
// so that a renamed axis is not lost silently.
func read(in io.Reader) (curves, error) {
	form := regexp.MustCompile(`^BenchmarkGrowth/policy=([^/\s]+)/(\w+)=(\d+)(?:-\d+)?\s.*\s([\d.e+-]+) ` + costUnit + `\b`)
	all := make(curves)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "BenchmarkGrowth/") || !strings.Contains(line, costUnit) {
			continue
		}
		parts := form.FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("result %q: expected Growth/policy=P/WHAT=N", line)
		}
		policy, what := parts[1], parts[2]
		n, err := strconv.Atoi(parts[3])
		cost, costErr := strconv.ParseFloat(parts[4], 64)
		if err := errors.Join(err, costErr); err != nil {
			return nil, fmt.Errorf("result %q: %w", line, err)
		}
		if all[what] == nil {
			all[what] = make(map[string][]plot.Point)
		}
		all[what][policy] = append(all[what][policy], plot.Point{X: float64(n), Y: cost})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no results of BenchmarkGrowth")
	}
	return all, nil
}
