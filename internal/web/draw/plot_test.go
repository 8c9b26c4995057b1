package draw

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// figures returns one figure of each kind.
func figures() map[string]*Figure {
	times, slots := []float64{0, 10, 20, 40}, []float64{4, 2, 3, 0}
	curve := []Point{{X: 10, Y: 900, Low: 800, High: 1100}, {X: 20, Y: 400}, {X: 30, Y: 0}}
	heights := []Value{{Y: 3, Low: 2, High: 5}, {Y: 0.5}}
	sojourns := []Sample{{"fair", []float64{1, 20, 300}}, {"hfsp", []float64{0, 7, 4000}}}
	time := Axes{Title: "Slots", X: "time [s]", Y: "running maps", Marks: []Mark{{X: 15, Name: "n3 is lost"}}}
	return map[string]*Figure{
		"cdf":    CDF(Axes{Title: "Sojourn", X: "sojourn time [s]"}, sojourns...),
		"lines":  Lines(Axes{X: "machines", Y: "mean sojourn time [s]"}, Line{Name: "fair", Points: curve}),
		"log":    Lines(Axes{LogX: true, LogY: true}, Line{Name: "fair", Points: curve}, Line{Name: "none"}),
		"areas":  Areas(time, times, Area{"j1", slots}, Area{"j2", slots}, Area{Others, slots}),
		"gantt":  Gantt(time, []string{"n0", "", "n1", ""}, Span{0, 0, 30, "j1"}, Span{3, 10, 10, "j2"}),
		"bars":   Bars(Axes{Y: "mean [s]"}, []string{"small", "big"}, Bar{"fair", heights}, Bar{"hfsp", heights}),
		"decade": Bars(Axes{LogY: true}, []string{"small", "big"}, Bar{"fair", heights}),
		"grid":   Grid("Both", 2, CDF(Axes{Title: "a"}, sojourns...), CDF(Axes{Title: "b"}, sojourns[1:]...), CDF(Axes{})),
	}
}

func TestFiguresAreDeterministic(t *testing.T) {
	again := figures()
	for name, f := range figures() {
		var a, b bytes.Buffer
		if err := errors.Join(f.SVG(&a), again[name].SVG(&b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two pictures of the same data differ", name)
		}
	}
}

func TestLegendListsEachNameOnce(t *testing.T) {
	var svg bytes.Buffer
	must.Do(t, figures()["grid"].SVG(&svg))
	for _, words := range []string{">Both<", ">fair<", ">hfsp<", ">fraction of jobs<"} {
		want := 1
		if words == ">fraction of jobs<" {
			want = 3
		}
		if n := strings.Count(svg.String(), words); n != want {
			t.Errorf("%s is there %d times, want %d", words, n, want)
		}
	}
}

func TestColoursFollowNames(t *testing.T) {
	g := Grid("", 1, Lines(Axes{}, Line{Name: "a"}, Line{Name: Others}), Lines(Axes{}, Line{Name: "b"}, Line{Name: "a"}))
	if got := fmt.Sprint(g.names()); got != "[a b others]" {
		t.Errorf("names %s", got)
	}
	of := lineStyles(g.names())
	if of["a"].colour != palette[0] || of["b"].colour != palette[1] || of[Others].colour != grey {
		t.Errorf("looks %v", of)
	}
}

func TestInvalidData(t *testing.T) {
	nan := math.NaN()
	for want, f := range map[string]*Figure{
		"fair":                     CDF(Axes{}, Sample{"fair", []float64{1, nan}}),
		"hfsp":                     Lines(Axes{}, Line{Name: "hfsp", Points: []Point{{X: 1, Y: math.Inf(1)}}}),
		"low: a value that is not": Lines(Axes{}, Line{Name: "low", Points: []Point{{X: 1, High: math.Inf(1)}}}),
		"2 values at 3 times":      Areas(Axes{}, []float64{1, 2, 3}, Area{"j", []float64{1, 2}}),
		"time 1 after 2":           Areas(Axes{}, []float64{2, 1}, Area{"j", []float64{1, 2}}),
		"not a finite number":      Areas(Axes{}, []float64{1, 2}, Area{"j", []float64{nan, 2}}),
		"row 1 of 1":               Gantt(Axes{}, []string{"n0"}, Span{Row: 1, Name: "j"}),
		"from 2 to 1":              Gantt(Axes{}, []string{"n0"}, Span{From: 2, To: 1, Name: "j"}),
		"axes: a value that is":    Lines(Axes{}, Line{Name: "j", Points: []Point{{X: -1e308}, {X: 1e308}}}),
		"1 values in 2 groups":     Bars(Axes{}, []string{"a", "b"}, Bar{"j", []Value{{Y: 1}}}),
		"j: a value that is no":    Bars(Axes{}, []string{"a"}, Bar{"j", []Value{{Y: nan}}}),
	} {
		if err := f.SVG(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q expected in %v", want, err)
		}
	}
}

func TestNoData(t *testing.T) {
	for name, f := range map[string]*Figure{
		"cdf": CDF(Axes{LogX: true}), "lines": Lines(Axes{LogY: true}), "areas": Areas(Axes{}, nil),
		"gantt": Gantt(Axes{}, nil), "bars": Bars(Axes{}, nil), "grid": Grid("", 3), "none above 0": CDF(Axes{LogX: true}, Sample{"a", []float64{0, -1}}),
		"logarithmic bars": Bars(Axes{LogY: true}, []string{"a"}, Bar{"j", []Value{{}}}),
		"one moment":       Areas(Axes{}, []float64{1, 1}, Area{"j", []float64{1, 2}}),
	} {
		if err := f.SVG(new(bytes.Buffer)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, figures()["cdf"].Save(dir, "sojourn"))
	if got, err := os.ReadFile(filepath.Join(dir, "sojourn.svg")); err != nil || !strings.HasPrefix(string(got), "<svg ") || !strings.HasSuffix(string(got), "</svg>\n") {
		t.Errorf("%.8q, %v", got, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
	if err := figures()["cdf"].Save(filepath.Join(dir, "none"), "x"); err == nil {
		t.Error("a picture is in a directory that does not exist")
	}
}
