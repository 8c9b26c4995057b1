package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/web/draw"
)

// TestChartHasGapsStacksAndMarks draws five intervals, of which the third is missing.
func TestChartHasGapsStacksAndMarks(t *testing.T) {
	c := newChart(chartSpec{
		ID: "x", From: 0, To: 50_000, Step: 10_000, Times: []int64{0, 10_000, 30_000, 40_000},
		Areas:  []chartSeries{{"a", []float64{1, 1, 2, 2}}, {"b", []float64{1, 3, 0, 2}}},
		Lines:  []chartSeries{{"line", []float64{4, 4, 4, 4}}},
		Marked: []bool{true, true, false, true}, Mark: "m",
	})
	width := float64(chartRight-chartLeft) / 5
	x := func(interval float64) string { return hundredths(chartLeft + width*interval) }
	y := func(v float64) string { return hundredths(chartBottom - (chartBottom-chartTop)*v/4) }
	for i, want := range []string{
		"M" + x(0) + " " + y(1) + "H" + x(0) + "V" + y(1) + "H" + x(2) + "H" + x(2) + "V" + y(0) + "H" + x(0) + "z",
		"M" + x(0) + " " + y(2) + "H" + x(0) + "V" + y(2) + "H" + x(1) + "V" + y(4) + "H" + x(2),
	} {
		if !strings.HasPrefix(c.Curves[i].Path, want) {
			t.Errorf("area %d is %s, want %s", i, c.Curves[i].Path, want)
		}
	}
	if n := strings.Count(c.Curves[2].Path, "M"); n != 2 {
		t.Errorf("the line has %d parts, want 2: %s", n, c.Curves[2].Path)
	}
	if len(c.Spans) != 2 || math.Abs(c.Spans[0].Width-2*width) > .01 {
		t.Errorf("marks %+v", c.Spans)
	}
	if len(c.Rows) != 4 || strings.Join(c.Rows[1].Cells, " ") != "1 3 4" || !c.Rows[1].Marked || strings.Join(c.Heads, " ") != "a b line" {
		t.Errorf("table %v %+v", c.Heads, c.Rows)
	}
	if last := c.YTicks[len(c.YTicks)-1]; c.YTicks[0].Text != "0" || last.Text != "4" || last.At != chartTop {
		t.Errorf("axis %+v", c.YTicks)
	}
}

// hundredths formats a place as paths have it.
func hundredths(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

func TestTicksOfNumbers(t *testing.T) {
	here := func(v float64) float64 { return v }
	for _, c := range []struct {
		scale   draw.Scale
		highest float64
		want    string
	}{
		{countScale, .3, "0 0.1 0.2 0.3"},
		{countScale, 1, "0 1"},
		{countScale, 2, "0 1 2"},
		{countScale, 4, "0 1 2 3 4"},
		{countScale, 7, "0 2 4 6"},
		{countScale, 33, "0 10 20 30"},
		{countScale, 1024, "0 500 1\u202f000"},
		{byteScale, 3 << 20, "0 B 1 MiB 2 MiB 3 MiB"},
		{durationScale, 20_000, "0 5.0 s 10.0 s 15.0 s 20.0 s"},
		{durationScale, 600_000, "0 2 min 4 min 6 min 8 min 10 min"},
	} {
		got := ""
		for i, each := range c.scale.Ticks(c.highest, here) {
			if i > 0 {
				got += " "
			}
			got += each.Text
			if each.At > c.highest*1.001 {
				t.Errorf("up to %v: a tick at %v", c.highest, each.At)
			}
		}
		if got != c.want {
			t.Errorf("up to %v: %q, want %q", c.highest, got, c.want)
		}
	}
}

func TestLargestSeriesAreShown(t *testing.T) {
	var all []chartSeries
	for i := range 10 {
		all = append(all, chartSeries{fmt.Sprint("p", i), []float64{float64(i), 1}})
	}
	got := largest(all, 3)
	if len(got) != 4 || got[0].Name != "p7" || got[2].Name != "p9" || got[3].Name != "other pools" || got[3].Values[0] != 21 || got[3].Values[1] != 7 {
		t.Errorf("%+v", got)
	}
}

func TestPoolPages(t *testing.T) {
	f := newFake("wordcount")
	f.pools = []apidoc.Queue{{Name: "default", State: "RUNNING"}, {Name: "root.b"}, {Name: "root"}, {Name: "root.a.x"}, {Name: "rooted", Allotment: &apidoc.Allotment{Weight: 2}}}
	apidoc.SetParents(f.pools)
	h := newHandler(t, f)
	for path, texts := range map[string][]string{
		"/pools":                 {`depth-1"><a href="/pools/root.a.x">a.x</a>`, `depth-1"><a href="/pools/root.b">b</a>`, `depth-0"><a href="/pools/rooted">rooted</a>`},
		"/pools?sort=-name":      {"rooted"},
		"/pools?sort=-weight":    {`depth-0"><a href="/pools/root.b">root.b</a>`},
		"/pools/rooted?range=2h": {"6 min 0 s</dd>", "below its share while tasks waited", "fair share", "12 slot-seconds"},
		"/pools/root.b":          {`Below <a href="/pools/root">`, "no samples of the pool"},
		"/":                      {`id="chart-use"`, "slots of the cluster", "range=10min"},
	} {
		page := request(h, path, nil)
		if page.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, page.Code)
		}
		for _, text := range texts {
			if !strings.Contains(page.Body.String(), text) {
				t.Errorf("%s: no %q: %s", path, text, page.Body)
			}
		}
	}
	if w := request(h, "/pools/nightly", nil); w.Code != http.StatusNotFound {
		t.Errorf("unknown pool: status %d", w.Code)
	}
	w := request(h, "/api/v1/pools/rooted/samples?step=60&from=1763699000000", nil)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"waiting":{"map":3,"reduce":0}`) {
		t.Errorf("samples: %d %.300s", w.Code, w.Body)
	}
	if w := request(h, "/api/v1/samples?from=yesterday", nil); w.Code != http.StatusBadRequest {
		t.Errorf("bad time: status %d", w.Code)
	}
}
