package workload

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func generated(t *testing.T, text string, o Options) *Workload {
	t.Helper()
	return mustRead(t, SpecPrefix+text, o)
}

func TestDocumentedSpec(t *testing.T) {
	const text = "jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3,reduces=const:0"
	w := generated(t, text, Options{})
	if len(w.Jobs) != 100 || w.Name != text {
		t.Fatalf("%q: %d jobs, want 100", w.Name, len(w.Jobs))
	}
	for i, j := range w.Jobs {
		if len(j.Maps) < 1 || len(j.Maps) > 500 || len(j.Reduces) != 0 || j.SlowStart != -1 || j.Maps[0].Bytes != DefaultBlockBytes {
			t.Errorf("job %d: %d maps, %d reduces, %+v", i, len(j.Maps), len(j.Reduces), j.Maps[0])
		}
	}
	if first, last := w.Jobs[0], w.Jobs[99]; first.ID != "job001" || last.ID != "job100" || first.Submit != 0 {
		t.Errorf("first job %s at %d, last %s", first.ID, first.Submit, last.ID)
	}
	if mean := float64(w.LastSubmit()) / 99; mean < 9000 || mean > 17000 {
		t.Errorf("jobs %v ms apart, want about 13000", mean)
	}
	if again := generated(t, text, Options{}); !reflect.DeepEqual(w, again) {
		t.Error("the same spec gives another workload")
	}
	if other := generated(t, "seed=1,"+text, Options{}); reflect.DeepEqual(w.Jobs, other.Jobs) {
		t.Error("another seed gives the same workload")
	}
	if other, same := generated(t, text, Options{Model: Model{Seed: 1}}), generated(t, "seed=1,"+text, Options{}); !reflect.DeepEqual(other.Jobs, same.Jobs) {
		t.Error("the seed of the options gives another workload than that of the spec")
	}
}

func TestSpecDistributionsAreIndependent(t *testing.T) {
	a := generated(t, "jobs=20,arrival=exp:1s,maps=uniform:1:9", Options{})
	b := generated(t, "jobs=20,arrival=const:1s,maps=uniform:1:9,reduces=exp:3,map=exp:5s", Options{})
	for i := range a.Jobs {
		if len(a.Jobs[i].Maps) != len(b.Jobs[i].Maps) || b.Jobs[i].Submit != int64(i)*1000 {
			t.Errorf("job %d has %d maps and then %d, at %d", i, len(a.Jobs[i].Maps), len(b.Jobs[i].Maps), b.Jobs[i].Submit)
		}
		if a.Jobs[i].Maps[0].Millis != 60000 {
			t.Errorf("a map without a law takes %d ms, want the model's 60000", a.Jobs[i].Maps[0].Millis)
		}
	}
}

func TestSpecClassesBurstsAndPools(t *testing.T) {
	w := generated(t, "arrival=burst:3:const:10s,pools=2,slowstart=0.5,reduces=const:2,reduce=const:7s,reduce-bytes=const:1k;class=a,jobs=4,maps=const:1;class=b,jobs=3,maps=const:2,reduces=const:0", Options{})
	count := make(map[string]int)
	for i, j := range w.Jobs {
		count[j.Class]++
		if j.Submit != int64(i/3)*10000 || j.Pool != []string{"pool1", "pool2"}[i%2] || j.SlowStart != 0.5 {
			t.Errorf("job %d: %+v", i, j)
		}
		if j.Class == "a" && !slices.Equal(j.Reduces, []Task{{7000, 1024}, {7000, 1024}}) || j.Class == "b" && (len(j.Maps) != 2 || len(j.Reduces) != 0) {
			t.Errorf("job of class %s: maps %v, reduces %v", j.Class, j.Maps, j.Reduces)
		}
	}
	if count["a"] != 4 || count["b"] != 3 {
		t.Errorf("classes %v, want 4 of a and 3 of b", count)
	}
	if w.Jobs[0].Class+w.Jobs[1].Class+w.Jobs[2].Class+w.Jobs[3].Class == "aaaa" {
		t.Error("classes are in sequence, want them shuffled")
	}
}

func TestPresetsMatchPaperTables(t *testing.T) {
	if len(presets) != 3 {
		t.Errorf("%d presets", len(presets))
	}
	for name, want := range map[string]struct{ jobs, leastMaps, mostMaps int }{"fb2009": {100, 8000, 20000}, "fb2010": {93, 100000, 145000}} {
		w := generated(t, name, Options{})
		maps, _ := w.Tasks()
		if len(w.Jobs) != want.jobs || maps < want.leastMaps || maps > want.mostMaps {
			t.Errorf("%s: %d jobs with %d maps, want %d with %d to %d", name, len(w.Jobs), maps, want.jobs, want.leastMaps, want.mostMaps)
		}
	}
}

// TestResearchHasTimesOfPaper compares least, mean and most of the quantiles of task times with those
// of Chronos' paper, in s.
func TestResearchHasTimesOfPaper(t *testing.T) {
	s, err := ParseSpec("spec", "research")
	must.Do(t, err)
	for name, of := range map[string]struct {
		times             Distribution
		least, mean, most float64
	}{"maps": {s.Classes[0].Map, 2, 124, 84631}, "reduces": {s.Classes[0].Reduce, 9, 901, 81714}} {
		at := func(u float64) float64 { return of.times.kind.draw(of.times.args, u) / 1000 }
		sum := 0.
		const n = 200_000
		for i := range n {
			sum += at((float64(i) + .5) / n)
		}
		if math.Abs(at(0)-of.least) > .01 || math.Abs(at(1)-of.most) > 1 || math.Abs(sum/n-of.mean) > .005*of.mean {
			t.Errorf("%s take %.2f to %.0f s, %.1f s on average; want %v", name, at(0), at(1), sum/n, of)
		}
	}
}

// TestMeanOfDistributions compares means of many draws with the textbook's.
func TestMeanOfDistributions(t *testing.T) {
	for text, want := range map[string]float64{
		"const:7":           7,
		"uniform:2:10":      6,
		"exp:13":            13,
		"pareto:3:2":        3,                                                      // αL / (α-1)
		"pareto:1:1:100":    100. / 99 * math.Log(100),                              // L H / (H-L) · ln(H/L)
		"pareto:1.5:1:500":  3 * (1 - 1/math.Sqrt(500)) / (1 - math.Pow(500, -1.5)), // α/(α-1) · (1-(L/H)^(α-1)) / (1-(L/H)^α)
		"pareto:0.01:3:499": 496 / math.Log(499./3),                                 // log-uniform
		"lognormal:60:0.3":  60,
		"weibull:5:0.7":     5,
		"weibull:5:1":       5,
	} {
		l, err := parseDistribution(text, parsePlain)
		must.Do(t, err)
		r, sum, most := rand.New(rand.NewPCG(1, 2)), 0.0, 0.0
		const n = 100000
		for range n {
			x := l.draw(r)
			sum, most = sum+x, max(most, x)
		}
		if got := sum / n; math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: mean %v, want %v", text, got, want)
		}
		if bounded := len(l.args) == 3 || l.kind.name == "uniform"; bounded && most > l.args[len(l.args)-1] {
			t.Errorf("%s: drew %v", text, most)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	const fine = "jobs=1,arrival=exp:1s,maps=const:1"
	for text, want := range map[string]string{
		"":                                           "spec without arrival",
		"arrival=exp:1s":                             "spec without jobs",
		"jobs=1,maps=const:1":                        "spec without arrival, expected one like",
		"jobs=1,arrival=exp:1s":                      `class "" with 1 jobs, expected at least 1, and maps like`,
		"jobs=0,arrival=exp:1s":                      `spec key "jobs": number "0", expected 1 to`,
		fine + ",maps=const:2":                       `spec key "maps": repeated`,
		fine + ",size=3":                             `spec key "size": unknown, expected one of jobs, arrival`,
		fine + ",map":                                `spec key "map": no value, expected KEY=VALUE`,
		fine + ",map=normal:3":                       `distribution "normal:3", expected one of const:VALUE, uniform:LEAST:MOST`,
		fine + ",map=exp":                            `"exp": 0 numbers, expected exp:MEAN`,
		fine + ",map=exp:1s:2s":                      `"exp:1s:2s": 2 numbers, expected exp:MEAN`,
		fine + ",map=exp:-1s":                        `time "-1s", expected one like 13s`,
		fine + ",map=exp:NaN":                        `time "NaN"`,
		fine + ",map=exp:Inf":                        `time "Inf"`,
		fine + ",reduces=const:-1":                   `number "-1", expected 0 or more`,
		fine + ",map-bytes=const:1q":                 `size "1q", expected one like 64m`,
		fine + ",map-bytes=const:2000000000g":        `size "2000000000g"`,
		fine + ",map=lognormal:1s:9":                 "SIGMA above 5, expected lognormal:MEAN:SIGMA",
		fine + ",map=weibull:1s:0":                   "SHAPE below 0.1",
		fine + ",reduces=pareto:0:1":                 "ALPHA below 0.01",
		fine + ",reduces=pareto:1:5:2":               "LEAST above MOST",
		fine + ",reduces=uniform:5:2":                "LEAST above MOST",
		fine + ",slowstart=2":                        `number "2", expected 0 to 1`,
		fine + ",seed=-1":                            `spec key "seed"`,
		fine + ";seed=1,jobs=2,maps=const:1":         "after a semicolon",
		"jobs=1,maps=const:1,arrival=burst:0:exp:1s": `number "0", expected 1 to 33554432 in burst:N:DISTRIBUTION`,
		"jobs=1,maps=const:1,arrival=burst:2":        `distribution "", expected one of`,
		"jobs=1,maps=const:1e18,arrival=exp:1s":      "33554433 tasks beyond the 0 before",
		"jobs=33554432,maps=const:1,arrival=exp:1s;jobs=1,maps=const:1":     "more than 33554432 jobs",
		"jobs=2,maps=const:1,arrival=const:1200000h":                        `time "1200000h"`,
		"jobs=9,maps=const:1,arrival=const:30000h":                          "job 6 (\"job6\"): submitted at",
		"jobs=1,maps=const:1,arrival=exp:1s" + strings.Repeat(" ", maxSpec): "a spec of more than",
	} {
		_, err := ReadFile(SpecPrefix+text, Options{})
		wantError(t, err, want)
	}
}

func TestSpecErrorsNameTheLine(t *testing.T) {
	text := "arrival=exp:1x\n\nclass=a,jobs=1,maps=const:1;class=b,jobs=0,maps=const:1\r\nclass=c,size=3\n"
	_, err := Read(strings.NewReader(text), "mix.spec", Options{})
	wantError(t, err, `mix.spec:1: spec key "arrival"`, `mix.spec:3: spec key "jobs": number "0"`, `mix.spec:4: spec key "size": unknown`)
	if err != nil && strings.Contains(err.Error(), "spec without") {
		t.Errorf("what is wrong is called missing: %v", err)
	}
}
