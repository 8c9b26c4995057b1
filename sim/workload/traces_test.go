package workload

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// readTraceText returns the name of a public trace, which is next to the repository and not
// in it. Without it the test is skipped.
func readTraceText(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", filepath.FromSlash(name))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no public trace %s next to the repository (../shared/traces)", name)
	}
	return path
}

func mustRead(t *testing.T, name string, o Options) *Workload {
	t.Helper()
	w, err := ReadFile(name, o)
	must.Do(t, err)
	if err := w.Validate(); err != nil {
		t.Fatalf("the reader returned an invalid workload: %v", err)
	}
	return w
}

func wantSize(t *testing.T, w *Workload, jobs, maps, reduces int) {
	t.Helper()
	gotMaps, gotReduces := w.Tasks()
	if len(w.Jobs) != jobs || gotMaps != maps || gotReduces != reduces {
		t.Errorf("%s: %d jobs, %d maps, %d reduces, want %d, %d, %d", w.Name, len(w.Jobs), gotMaps, gotReduces, jobs, maps, reduces)
	}
}

func TestPaperWorkloads(t *testing.T) {
	w := mustRead(t, readTraceText(t, "hfsp_fb2009.csv"), Options{})
	wantSize(t, w, 100, 13757, 2301)
	classes := make(map[string]int)
	for _, j := range w.Jobs {
		classes[j.Class]++
	}
	if classes["small"] != 53 || classes["medium"] != 41 || classes["big"] != 6 {
		t.Errorf("classes %v, want the paper's 53, 41 and 6", classes)
	}
	// Job 2 has 1,021,512,100 bytes: seven full blocks and a rest.
	j := w.Jobs[2]
	if j.ID != "2" || j.Submit != 11517 || j.Maps[0] != (Task{60000, 128 << 20}) || j.Maps[7].Bytes != 1021512100-7<<27 || j.Name != "job2016" {
		t.Errorf("job 2 is %s (%s) at %d, maps %v", j.ID, j.Name, j.Submit, j.Maps)
	}
	w = mustRead(t, readTraceText(t, "hfsp_fb2010.csv"), Options{})
	wantSize(t, w, 93, 112942, 6688)
	wantBins(t, w)
	// At 30 s a map, 400 slots have 2.4 hours of work.
	w = mustRead(t, readTraceText(t, "hfsp_fb2010.csv"), Options{Model: Model{BlockTime: 30 * time.Second}})
	maps, _ := w.OfferedLoad(400, 200)
	if hours := maps * seconds(w.LastSubmit()) / 3600; hours < 2.2 || hours > 2.4 {
		t.Errorf("%.2f hours of maps on 400 slots, want a little under 2.35, the last map of a job being short", hours)
	}
}

// wantBins compares the larger workload with the HFSP paper's table.
func wantBins(t *testing.T, w *Workload) {
	t.Helper()
	type bin struct{ jobs, leastMaps, mostMaps, leastReduces, mostReduces int }
	bins := map[string]bin{
		"expand": {39, 401, 1500, 10, 10}, "expand_transform": {16, 401, 1500, 11, 100}, "transform_s": {11, 401, 1500, 101, 200},
		"aggregate": {10, 1501, 2500, 10, 100}, "transform_m": {7, 1501, 2500, 101, 200}, "transform_l": {10, 2501, 5000, 101, 200},
	}
	jobs := make(map[string]int)
	for _, j := range w.Jobs {
		jobs[j.Class]++
		b, maps, reduces := bins[j.Class], len(j.Maps), len(j.Reduces)
		if maps < b.leastMaps || maps > b.mostMaps || reduces < b.leastReduces || reduces > b.mostReduces {
			t.Errorf("job %s of class %s has %d maps and %d reduces, want %+v", j.ID, j.Class, maps, reduces, b)
		}
	}
	for class, b := range bins {
		if jobs[class] != b.jobs {
			t.Errorf("%d jobs of class %s, want %d", jobs[class], class, b.jobs)
		}
	}
}

// TestTableOfPublicTraces compares four digits of the published sums.
func TestTableOfPublicTraces(t *testing.T) {
	for _, c := range []struct {
		file          string
		gap           float64 // mean, s
		together      int     // jobs in the second of the one before
		maps, shuffle float64 // bytes of all jobs
	}{
		{"swim/FB-2009_samples_24_times_1hr_0.tsv", 14.66, 230, 2.689e13, 2.222e13},
		{"swim/FB-2009_samples_24_times_1hr_1.tsv", 13.02, 295, 3.357e13, 1.410e13},
		{"swim/FB-2010_samples_24_times_1hr_0.tsv", 3.535, 4903, 1.083e15, 4.379e14},
	} {
		w := mustRead(t, readTraceText(t, c.file), Options{SWIM: SWIM{Plain: true, MaxReduces: 200}})
		var maps, shuffle float64
		together := 0
		for i, j := range w.Jobs {
			maps, shuffle = maps+float64(Sum(j.Maps).Bytes), shuffle+float64(Sum(j.Reduces).Bytes)
			if i > 0 && w.Jobs[i-1].Submit == j.Submit {
				together++
			}
		}
		near := func(got, want, within float64) bool { return math.Abs(got-want) <= within*want }
		if gap := seconds(w.LastSubmit()) / float64(len(w.Jobs)-1); !near(gap, c.gap, 5e-4) || together != c.together {
			t.Errorf("%s: a job each %.3f s, %d in the second of another, want %v s and %d", c.file, gap, together, c.gap, c.together)
		}
		if !near(maps, c.maps, 5e-4) || !near(shuffle, c.shuffle, 5e-4) {
			t.Errorf("%s: %.4g bytes of maps, %.4g shuffled, want %.4g and %.4g", c.file, maps, shuffle, c.maps, c.shuffle)
		}
	}
}

// TestHoursOfFB2010 counts hours from 0: two are almost empty, and in two about as many jobs
// have more maps than slots as HFSP's workload has jobs.
func TestHoursOfFB2010(t *testing.T) {
	w := mustRead(t, readTraceText(t, "swim/FB-2010_samples_24_times_1hr_0.tsv"), Options{SWIM: SWIM{Plain: true, MaxReduces: 200, BlockBytes: 128 << 20}})
	jobs, large := make(map[int64]int), make(map[int64]int)
	for _, j := range w.Jobs {
		hour := j.Submit / 3_600_000
		jobs[hour]++
		if len(j.Maps) > 400 {
			large[hour]++
		}
	}
	if jobs[14] != 2 || jobs[24] != 5 {
		t.Errorf("%d and %d jobs in hours 14 and 24, want 2 and 5", jobs[14], jobs[24])
	}
	if large[9] != 91 || large[16] != 92 {
		t.Errorf("%d and %d large jobs in hours 9 and 16, want 91 and 92: %v", large[9], large[16], large)
	}
}

func TestPublicTraces(t *testing.T) {
	for _, c := range []struct {
		file           string
		jobs, mapOnly  int
		original, last int
	}{
		{"swim/FB-2009_samples_24_times_1hr_0.tsv", 5894, 4448, 600, 86404},
		{"swim/FB-2009_samples_24_times_1hr_1.tsv", 6638, 4833, 600, 86402},
		{"swim/FB-2010_samples_24_times_1hr_0.tsv", 24442, 8324, 3000, 86408},
	} {
		o := Options{SWIM: SWIM{OriginalMachines: c.original, TargetMachines: 20}}
		replay := mustRead(t, readTraceText(t, c.file), o)
		o.SWIM.Plain, o.SWIM.MaxReduces = true, 200
		plain := mustRead(t, readTraceText(t, c.file), o)
		if len(replay.Jobs) != c.jobs || len(plain.Jobs) != c.jobs {
			t.Errorf("%s: %d and %d jobs, want %d", c.file, len(replay.Jobs), len(plain.Jobs), c.jobs)
		}
		if got := plain.LastSubmit(); got != int64(c.last)*1000 {
			t.Errorf("%s: last job at %d ms, want %d s", c.file, got, c.last)
		}
		// The replay's gaps pass after their job: each job arrives when its predecessor did
		// in the trace, and the first at once.
		for i := 1; i < c.jobs; i++ {
			if replay.Jobs[i].Submit != plain.Jobs[i-1].Submit {
				t.Fatalf("%s: job %d of the replay at %d, want %d", c.file, i, replay.Jobs[i].Submit, plain.Jobs[i-1].Submit)
			}
		}
		if n := withoutReduces(plain); n < c.mapOnly {
			t.Errorf("%s: %d jobs without reduces, want at least the %d that shuffle nothing", c.file, n, c.mapOnly)
		}
		if n := withoutReduces(replay); n != 0 {
			t.Errorf("%s: %d jobs without reduces in the replay, which gives each one", c.file, n)
		}
	}
}

func withoutReduces(w *Workload) (n int) {
	for _, j := range w.Jobs {
		if len(j.Reduces) == 0 {
			n++
		}
	}
	return n
}
