package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

func sortByTime[T any](list []T, at func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(at(a), at(b)) })
}

const someJob = "job_1763700000000_0001"

// columns makes tasks of one stage: bytes, duration and node of each.
func columns(kind string, tasks ...[3]int64) *apidoc.TaskColumns {
	c := &apidoc.TaskColumns{
		Stages: []string{strings.ToLower(kind[:1])}, Types: []string{kind}, Nodes: []string{"", "n1", "n2", "n3"}, States: []string{"SUCCEEDED", "RUNNING", "PENDING"},
		Places: []string{"unknown", "node", "rack", "other", "any"},
	}
	for i, t := range tasks {
		c.Stage, c.Number, c.State, c.Attempts = append(c.Stage, 0), append(c.Number, int32(i)), append(c.State, 0), append(c.Attempts, 1)
		c.Start, c.End, c.Duration = append(c.Start, int64(1000+i)), append(c.End, int64(1000+i)+t[1]), append(c.Duration, t[1])
		c.Bytes, c.Records, c.In, c.Spilled = append(c.Bytes, t[0]), append(c.Records, t[0]), append(c.In, t[0]), append(c.Spilled, 0)
		c.Node, c.Place = append(c.Node, int32(t[2])), append(c.Place, int32(1+i%3))
	}
	return c
}

func TestVerdicts(t *testing.T) {
	even := [][3]int64{{100, 50, 1}, {110, 55, 2}, {105, 52, 3}, {95, 48, 1}, {100, 50, 2}, {102, 51, 3}, {101, 50, 1}, {99, 50, 2}, {100, 51, 3}}
	slow := [][3]int64{{100, 50, 1}, {110, 55, 2}, {105, 150, 3}, {95, 48, 1}, {100, 50, 2}, {102, 153, 3}, {101, 50, 1}, {99, 50, 2}, {100, 151, 3}}
	for _, c := range []struct {
		name, kind, by, cause, text string
		tasks                       [][3]int64
	}{
		{"even", "MAP", "bytes", "none", "No cause", even},
		{"hot key", "REDUCE", "bytes", "data", "9.9 times the bytes of the median", append(slices.Clone(even), [3]int64{1000, 500, 1})},
		{"hot key, records", "REDUCE", "records", "data", "follows their records", append(slices.Clone(even), [3]int64{1000, 500, 1})},
		{"slow machine", "MAP", "bytes", "machine", "on n3, tasks take 3.0 times", slow},
		{"one slow task", "MAP", "bytes", "none", "No cause", append(slices.Clone(even[:5]), [3]int64{100, 300, 3})},
		{"few groups", "REDUCE", "bytes", "groups", "2 of 11 reduces had no input", append(slices.Clone(even), [3]int64{0, 5, 1}, [3]int64{0, 5, 2})},
		{"maps without input", "MAP", "bytes", "none", "No cause", append(slices.Clone(even), [3]int64{0, 5, 1})},
		{"time alone", "MAP", "duration", "none", "No cause", slow},
		{"nothing", "MAP", "bytes", "none", "No task has finished", nil},
	} {
		s := SkewOf(columns(c.kind, c.tasks...), someJob, c.by).Stages[0]
		if s.Cause != c.cause || !strings.Contains(s.Verdict, c.text) {
			t.Errorf("%s: %s, %s", c.name, s.Cause, s.Verdict)
		}
	}
}

func TestSkewFigures(t *testing.T) {
	s := SkewOf(columns("REDUCE", [3]int64{1, 10, 1}, [3]int64{2, 10, 1}, [3]int64{3, 10, 2}, [3]int64{4, 10, 2}, [3]int64{0, 1, 1}), someJob, "bytes").Stages[0]
	if s.Tasks != 5 || s.Empty != 1 || s.Sum != 10 || s.Max != 4 || s.Median != 3 || math.Abs(s.Gini-.25) > 1e-9 || s.R != 0 {
		t.Errorf("%+v", s)
	}
	if fmt.Sprint(s.Curve) != "[1 2 3 4]" || fmt.Sprint(s.Histogram) != "[{0 1 0} {1 2 1} {2 3 1} {3 4 1} {4 5 1}]" {
		t.Errorf("curve %v, histogram %v", s.Curve, s.Histogram)
	}
	if len(s.Lorenz) != 101 || s.Lorenz[0] != 0 || math.Abs(s.Lorenz[50]-.3) > 1e-9 || math.Abs(s.Lorenz[100]-1) > 1e-9 {
		t.Errorf("lorenz %v", s.Lorenz)
	}
	if len(s.Top) != 4 || s.Top[0] != (TaskSkew{"task_1763700000000_0001_r_000003", "n2", 4, .4, 10}) || len(s.Points) != 4 {
		t.Errorf("top %+v", s.Top)
	}
	var many [][3]int64
	for i := range 5000 {
		many = append(many, [3]int64{int64(i + 1), int64(i), int64(i%3 + 1)})
	}
	s = SkewOf(columns("MAP", many...), someJob, "bytes").Stages[0]
	if len(s.Curve) != maxCurve || s.Curve[0] != 1 || s.Curve[maxCurve-1] != 5000 || len(s.Points) != maxPoints || len(s.Top) != maxTop || len(s.Histogram) > maxBins+1 {
		t.Errorf("curve %d, points %d, top %d, bins %d", len(s.Curve), len(s.Points), len(s.Top), len(s.Histogram))
	}
	if math.Abs(s.Gini-1./3) > .01 || math.Abs(s.R-1) > 1e-9 {
		t.Errorf("gini %v, r %v", s.Gini, s.R)
	}
}

func TestLocality(t *testing.T) {
	c := columns("MAP", [3]int64{10, 5, 1}, [3]int64{20, 6, 2}, [3]int64{30, 7, 2}, [3]int64{40, 8, 1}, [3]int64{50, 9, 3})
	c.Start[4], c.End[4] = 0, 0
	l := LocalityOf(c)
	s := l.Stages[0]
	if len(l.Stages) != 1 || s.Tasks != (PlaceCounts{2, 1, 1}) || s.Records != (PlaceCounts{50, 20, 30}) || !s.Reads || s.Share != .5 || s.Median[0] != 8 {
		t.Errorf("%+v", s)
	}
	if len(s.Times) != 4 || s.Times[0].Tasks[0] != 1 || s.Times[3].At != 1003 {
		t.Errorf("times %+v", s.Times)
	}
	if s.Bytes != (PlaceCounts{}) {
		t.Errorf("bytes of columns that have none: %v", s.Bytes)
	}
	c.Read = []int64{100, 200, 300, 400, 500}
	far := LocalityOf(c)
	if s := far.Stages[0]; s.Bytes.Far() != s.Bytes[1]+s.Bytes[2] || s.Bytes != (PlaceCounts{500, 200, 300}) || far.Nodes[0].Bytes != (PlaceCounts{0, 200, 300}) {
		t.Errorf("bytes by place: %v, by node: %+v", s.Bytes, far.Nodes)
	}
	if len(l.Nodes) != 2 || l.Nodes[0].Node != "n2" || l.Nodes[0].Tasks != (PlaceCounts{0, 1, 1}) {
		t.Errorf("nodes %+v", l.Nodes)
	}
	c.Places[1] = "moon"
	if s := LocalityOf(c).Stages[0]; s.Tasks[4] != 2 {
		t.Errorf("a place that is not known: %+v", s.Tasks)
	}
}

func TestForecast(t *testing.T) {
	c := columns("MAP", [3]int64{1, 100, 1}, [3]int64{1, 200, 1}, [3]int64{1, 300, 1}, [3]int64{1, 50, 1}, [3]int64{1, 0, 0}, [3]int64{1, 0, 0})
	c.End[3], c.State[3] = 0, 1
	for i := 4; i < 6; i++ {
		c.Start[i], c.End[i], c.State[i] = 0, 0, 2
	}
	// p25 is 200 and p75 is 300 of 100, 200, 300: one task runs since 50 ms, two wait, for one slot.
	if f := ForecastOf(c); f.Slots != 1 || f.Left != 3 || f.Low != 2*200+150 || f.High != 2*300+250 || f.Unknown != "" {
		t.Errorf("%+v", f)
	}
	c.State[3], c.End[3] = 0, 1100
	if f := ForecastOf(c); f.Unknown != "no task runs now" {
		t.Errorf("%+v", f)
	}
	for i := range c.End {
		c.End[i] = 1
	}
	if f := ForecastOf(c); f.Unknown != "all tasks have finished" || f.Low != 0 {
		t.Errorf("%+v", f)
	}
	c.End[0], c.End[1], c.End[2], c.End[3], c.End[4], c.End[5] = 0, 0, 0, 0, 0, 0
	c.State[0] = 1
	if f := ForecastOf(c); f.Unknown != "no map has finished yet" {
		t.Errorf("%+v", f)
	}
}

func TestUsage(t *testing.T) {
	c := columns("MAP", [3]int64{1, 1000, 1}, [3]int64{1, 500, 2}, [3]int64{1, 250, 1}, [3]int64{1, 0, 0})
	c.Start[0], c.End[0] = 1000, 2000
	c.Start[1], c.End[1], c.State[1] = 1500, 0, 1 // runs
	c.Start[2], c.End[2], c.State[2] = 1000, 0, 2 // its attempt has failed, and it waits again
	c.Start[3], c.End[3], c.State[3] = 0, 0, 2
	u := UsageOf(c, 1999, 4)
	if u.From != 1000 || u.Step != 251 || len(u.Maps) != 4 || fmt.Sprintf("%.1f", u.Maps) != "[2.0 1.0 2.0 2.0]" || fmt.Sprint(u.Reduces) != "[0 0 0 0]" {
		t.Errorf("%+v", u)
	}
	if u := UsageOf(columns("MAP"), 5, 4); u.Step != 0 || u.Maps != nil {
		t.Errorf("%+v", u)
	}
}
