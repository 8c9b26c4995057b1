package workload

import (
	"math"
	"strings"
	"testing"
)

// validWorkload returns a workload without errors.
func validWorkload() *Workload {
	return &Workload{Name: "sound", Jobs: []Job{
		{ID: "a", SlowStart: -1, Maps: []Task{{Millis: 2000}, {Millis: 4000, Bytes: 7}}},
		{ID: "b", Submit: 10000, Priority: -2, SlowStart: 1, Maps: []Task{{}}, Reduces: []Task{{Millis: 5000, Bytes: 1}}},
	}}
}

func TestValidateAccepts(t *testing.T) {
	for _, w := range []*Workload{{}, validWorkload()} {
		if err := w.Validate(); err != nil {
			t.Errorf("%q: %v", w.Name, err)
		}
	}
}

func TestValidateNamesEachError(t *testing.T) {
	for want, spoil := range map[string]func(*Workload){
		`job 2: id "a" is that of job 1`:          func(w *Workload) { w.Jobs[1].ID = "a" },
		`job 1 (""): no id`:                       func(w *Workload) { w.Jobs[0].ID = "" },
		`submitted at 5 ms, before`:               func(w *Workload) { w.Jobs[0].Submit, w.Jobs[1].Submit = 9, 5 },
		`submitted at -1 ms`:                      func(w *Workload) { w.Jobs[0].Submit = -1 },
		`submitted at 137438953473 ms`:            func(w *Workload) { w.Jobs[1].Submit = MaxMillis + 1 },
		`priority 3`:                              func(w *Workload) { w.Jobs[0].Priority = 3 },
		`slow start 1.5`:                          func(w *Workload) { w.Jobs[0].SlowStart = 1.5 },
		`slow start NaN`:                          func(w *Workload) { w.Jobs[0].SlowStart = math.NaN() },
		`job 1 ("a"): no maps`:                    func(w *Workload) { w.Jobs[0].Maps = nil },
		`job 1 ("a"): map 1 takes -4 ms`:          func(w *Workload) { w.Jobs[0].Maps[1].Millis = -4 },
		`job 2 ("b"): reduce 0 has -1 bytes`:      func(w *Workload) { w.Jobs[1].Reduces[0].Bytes = -1 },
		`more than 1152921504606846976 bytes in `: func(w *Workload) { w.Jobs[1].Reduces[0].Bytes = MaxBytes },
	} {
		w := validWorkload()
		spoil(w)
		if err := w.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestValidateLimitsErrors(t *testing.T) {
	w := validWorkload()
	w.Jobs[0].Priority, w.Jobs[0].SlowStart, w.Jobs[1].Maps = 9, 2, nil
	if n := len(strings.Split(w.Validate().Error(), "\n")); n != 3 {
		t.Errorf("%d errors, want 3", n)
	}
	for range 100 {
		w.Jobs = append(w.Jobs, w.Jobs[1])
	}
	err := w.Validate().Error()
	if n := len(strings.Split(err, "\n")); n != maxErrors+1 || !strings.Contains(err, "more errors") {
		t.Errorf("%d lines, want %d: %s", n, maxErrors+1, err)
	}
}

func TestOfferedLoad(t *testing.T) {
	w := validWorkload()
	maps, reduces := w.OfferedLoad(3, 2)
	if maps != 6000./30000 || reduces != 5000./20000 {
		t.Errorf("load %v of maps, %v of reduces, want 0.2 and 0.25", maps, reduces)
	}
	if maps, reduces = w.OfferedLoad(0, 2); !math.IsInf(maps, 1) || reduces != 0.25 {
		t.Errorf("without map slots: %v, %v", maps, reduces)
	}
	w.Jobs = w.Jobs[:1]
	if maps, reduces = w.OfferedLoad(3, 2); !math.IsInf(maps, 1) || reduces != 0 {
		t.Errorf("when all come at 0: %v, %v", maps, reduces)
	}
}
