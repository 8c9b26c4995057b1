package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// Report is the results of one run of the kit, as written to Config.Results.
//
// It is the file format of bench/results. Fields are only added; a change of their meaning
// takes another version.
type Report struct {
	Version int       `json:"version"` // 1
	Time    time.Time `json:"time"`
	Machine Machine   `json:"machine"`
	Results []Result  `json:"results"`
}

// Result is the outcome of one contest. Times are in the samples of both sides; the ratio
// is their summary.
type Result struct {
	Case  string `json:"case"`
	Bytes int64  `json:"bytes"` // of input
	Ours  Side   `json:"ours"`
	Rival *Side  `json:"rival,omitempty"`
	// Ratio is the rival's time over ours: above 1 we are faster.
	Ratio    *Spread `json:"ratio,omitempty"`
	Goal     string  `json:"goal,omitempty"`
	Met      bool    `json:"met"`
	Compared bool    `json:"compared"` // the outputs were compared, and are equal
	// Notes are further findings, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// Side is one entry's share of a result.
//
//	{"name": "hammr", "seconds": {"median": 3.1, "min": 3.0, "max": 3.4},
//	 "maxRSSBytes": 412000000, "samples": [{"seconds": 3.1, "cpuSeconds": 5.9, …}, …]}
type Side struct {
	Name        string `json:"name"`
	Seconds     Spread `json:"seconds"`
	CPUSeconds  Spread `json:"cpuSeconds"`
	MaxRSSBytes int64  `json:"maxRSSBytes"` // of the largest process
	// TreeRSSBytes is the peak memory of all processes together.
	TreeRSSBytes int64    `json:"treeRSSBytes"`
	Samples      []Sample `json:"samples"`
}

// sideOf sums up the samples of one entry. A sample of all processes may have missed the peak of the
// largest one.
func sideOf(e Entry, samples []Sample) Side {
	s := Side{Name: e.Name, Seconds: spreadOf(secondsOf(samples)), CPUSeconds: spreadOf(cpuOf(samples)), Samples: samples}
	for _, one := range samples {
		s.MaxRSSBytes = max(s.MaxRSSBytes, one.MaxRSSBytes)
		s.TreeRSSBytes = max(s.TreeRSSBytes, one.MaxRSSBytes, one.TreeRSSBytes)
	}
	return s
}

// resultOf makes the result from the samples of a contest. The ratio is computed round by
// round, so that a slow round of the machine affects both of its parts.
func resultOf(c Contest, bytes int64, ours, rival []Sample) Result {
	r := Result{Case: c.Name, Bytes: bytes, Ours: sideOf(c.Ours, ours), Goal: c.Goals.String(), Compared: c.Compare != nil}
	if !c.Rival.missing() {
		side, ratio := sideOf(c.Rival, rival), spreadOf(ratios(secondsOf(rival), secondsOf(ours)))
		r.Rival, r.Ratio = &side, &ratio
	}
	r.Met = c.Goals.met(r)
	r.Notes = notesOn(c, r.Ours)
	return r
}

// notesOn returns findings about tasks and daemons as text. No program reads them back.
func notesOn(c Contest, s Side) (notes []string) {
	if c.Tasks > 0 {
		notes = append(notes, fmt.Sprintf("%.0f tasks/s", float64(c.Tasks)/s.Seconds.Median))
	}
	var share, cpu []float64
	for _, one := range s.Samples {
		if one.Cluster != nil {
			share, cpu = append(share, one.Cluster.MasterShare), append(cpu, one.Cluster.CPUSeconds)
		}
	}
	if len(share) > 0 {
		notes = append(notes, fmt.Sprintf("the busiest master takes %.1f %% of a core", 100*spreadOf(share).Median))
	}
	if len(cpu) > 0 && c.Tasks > 0 {
		notes = append(notes, fmt.Sprintf("%.2f ms of CPU time a task in daemons", 1e3*spreadOf(cpu).Median/float64(c.Tasks)))
	}
	return notes
}

// met reports whether every goal is reached. Target is a further aim and does not count.
func (g Goals) met(r Result) bool {
	return (g.Ratio == 0 || r.Ratio != nil && r.Ratio.Median >= g.Ratio) &&
		(g.Seconds == 0 || r.Ours.Seconds.Median <= g.Seconds) &&
		(g.MaxRSSBytes == 0 || r.Ours.MaxRSSBytes <= g.MaxRSSBytes)
}

// String returns the text for the table, "" for no goals.
func (g Goals) String() string {
	var goals []string
	if g.Ratio > 0 {
		goals = append(goals, fmt.Sprintf("ratio ≥ %g", g.Ratio))
	}
	if g.Target > 0 {
		goals = append(goals, fmt.Sprintf("aim %g", g.Target))
	}
	if g.Seconds > 0 {
		goals = append(goals, fmt.Sprintf("≤ %g ms", g.Seconds*1000))
	}
	if g.MaxRSSBytes > 0 {
		goals = append(goals, fmt.Sprintf("RSS ≤ %d MiB", g.MaxRSSBytes>>20))
	}
	return strings.Join(goals, ", ")
}

// write stores the report under its time and returns the name of the file.
func (r Report) write(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("directory for results: %w", err)
	}
	name := filepath.Join(dir, r.Time.UTC().Format("20060102-150405")+".json")
	return name, jsonfile.Write(name, r, 0o644)
}

// Spread is the median of some figures and their range. The median is the result; the range
// shows how far single runs were apart.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of figures, and the zero Spread for no figures. The median of
// an even number of figures is the mean of the middle two.
func spreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return Spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// ratios returns one side's figures over the other's, round by round. An interrupted contest may
// have one round more on one side.
func ratios(over, under []float64) []float64 {
	var out []float64
	for i := range min(len(over), len(under)) {
		out = append(out, over[i]/under[i])
	}
	return out
}

// figuresOf returns a figure of each sample.
func figuresOf(samples []Sample, of func(Sample) float64) (figures []float64) {
	for _, s := range samples {
		figures = append(figures, of(s))
	}
	return figures
}

// secondsOf returns the wall-clock times of the samples, cpuOf their CPU times.
func secondsOf(samples []Sample) []float64 {
	return figuresOf(samples, func(s Sample) float64 { return s.Seconds })
}

func cpuOf(samples []Sample) []float64 {
	return figuresOf(samples, func(s Sample) float64 { return s.CPUSeconds })
}
