package workload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// trace is the name of a public trace, which lies beside the module and not in
// it; without it the test is skipped.
func trace(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", filepath.FromSlash(name))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no public trace %s beside the module (../shared/traces)", name)
	}
	return path
}

func mustRead(t *testing.T, name string, o Options) *Workload {
	t.Helper()
	w, err := ReadFile(name, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Check(); err != nil {
		t.Fatalf("what a reader returns has faults: %v", err)
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
	w := mustRead(t, trace(t, "hfsp_fb2009.csv"), Options{})
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
	w = mustRead(t, trace(t, "hfsp_fb2010.csv"), Options{})
	wantSize(t, w, 93, 112942, 6688)
	// SCHEDULERS 4: at 30 s a map, 400 slots have 2.4 hours of work.
	w = mustRead(t, trace(t, "hfsp_fb2010.csv"), Options{Model: Model{BlockTime: 30 * time.Second}})
	maps, _ := w.OfferedLoad(400, 200)
	if hours := maps * seconds(w.LastSubmit()) / 3600; hours < 2.2 || hours > 2.4 {
		t.Errorf("%.2f hours of maps on 400 slots, want a little under 2.35, the last map of a job being short", hours)
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
		o := Options{SWIM: SWIM{OriginalNodes: c.original, TargetNodes: 20}}
		replay := mustRead(t, trace(t, c.file), o)
		o.SWIM.Plain, o.SWIM.MaxReduces = true, 200
		plain := mustRead(t, trace(t, c.file), o)
		if len(replay.Jobs) != c.jobs || len(plain.Jobs) != c.jobs {
			t.Errorf("%s: %d and %d jobs, want %d", c.file, len(replay.Jobs), len(plain.Jobs), c.jobs)
		}
		if got := plain.LastSubmit(); got != int64(c.last)*1000 {
			t.Errorf("%s: last job at %d ms, want %d s", c.file, got, c.last)
		}
		// The replay's gaps pass behind their job: each comes when the one
		// ahead of it did in the trace, and the first at once.
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
