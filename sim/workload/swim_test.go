package workload

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func readSWIMText(t *testing.T, text string, s SWIM) *Workload {
	t.Helper()
	w, err := ReadSWIM(strings.NewReader(text), "x.tsv", Options{SWIM: s})
	must.Do(t, err)
	return w
}

func TestReplayRules(t *testing.T) {
	const mib = 1 << 20
	text := "a\t10\t10\t1\t0\t0\nb\t17\t7\t6442450944000\t0\t6442450944000\tpath\t\t\nc\t17\t0\t805306368001\t67108864000\t10485760000\n"
	w := readSWIMText(t, text, SWIM{OriginalMachines: 600, TargetMachines: 100})
	a, b, c := w.Jobs[0], w.Jobs[1], w.Jobs[2]
	if a.Submit != 0 || b.Submit != 10000 || c.Submit != 17000 {
		t.Errorf("submitted at %d, %d, %d, want each gap after its line", a.Submit, b.Submit, c.Submit)
	}
	if len(a.Maps) != 1 || a.Maps[0].Bytes != 64*mib || len(a.Reduces) != 1 || a.Reduces[0].Bytes != 1024 {
		t.Errorf("the least job is maps %v, reduces %v, want 64 MiB and 1 KiB", a.Maps, a.Reduces)
	}
	// 6442450944000 / 6 is 16000 blocks of 64 MiB, and as many reduces: more than 100, so
	// 100 / 5.
	if len(b.Maps) != 16000 || len(b.Reduces) != 20 {
		t.Errorf("%d maps, %d reduces, want 16000 and 20", len(b.Maps), len(b.Reduces))
	}
	// (67108864000 + 10485760000) / 6 is 192.7 times 64 MiB.
	if len(c.Maps) != 2000 || len(c.Reduces) != 20 || c.Reduces[0].Bytes != 559240534 {
		t.Errorf("%d maps, %d reduces %v, want 2000 and 20 with a twentieth of 11184810666 bytes", len(c.Maps), len(c.Reduces), c.Reduces[0])
	}
}

func TestReplayRoundsReduces(t *testing.T) {
	for bytes, want := range map[string]int{"1024": 1, "100662271": 1, "100662272": 2, "6710886400": 100, "6777995264": 20} {
		w := readSWIMText(t, "a\t0\t0\t0\t"+bytes+"\t1024\n", SWIM{OriginalMachines: 100})
		if got := len(w.Jobs[0].Reduces); got != want {
			t.Errorf("%s bytes: %d reduces, want %d", bytes, got, want)
		}
	}
	// A fifth of fewer than five nodes is none; a job keeps one reduce.
	if w := readSWIMText(t, "a\t0\t0\t0\t6710886400\t0\n", SWIM{OriginalMachines: 3}); len(w.Jobs[0].Reduces) != 1 {
		t.Errorf("%d reduces on 3 nodes, want 1", len(w.Jobs[0].Reduces))
	}
}

func TestPlainTrace(t *testing.T) {
	w := readSWIMText(t, "a\t10\t10\t0\t0\t77\nb\t17\t7\t100\t67108864000\t0\n", SWIM{Plain: true, MaxReduces: 200, BlockBytes: 60})
	a, b := w.Jobs[0], w.Jobs[1]
	if a.Submit != 10000 || len(a.Maps) != 1 || a.Maps[0].Bytes != 0 || len(a.Reduces) != 0 {
		t.Errorf("job %+v, want an empty map and no reduce at 10 s", a)
	}
	if len(b.Maps) != 2 || b.Maps[0].Bytes != 60 || b.Maps[1].Bytes != 40 || len(b.Reduces) != 200 {
		t.Errorf("maps %v and %d reduces, want 60 and 40 bytes and 200", b.Maps, len(b.Reduces))
	}
}

func TestSWIMErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                      "x.tsv: no jobs",
		"a\t0\t0\t0\t0\t0\nb\t1\t1\n":                           "x.tsv:2: 3 columns, expected 6",
		"a\t0\t0\t0\t0\t0\tp\tq\n":                              "x.tsv:1: 8 columns",
		"a\tx\t0\t0\t0\t0\n":                                    `x.tsv:1: column 2, submit time: "x", expected a whole number`,
		"a\t0\t-1\t0\t0\t0\n":                                   `x.tsv:1: column 3, gap: "-1"`,
		"a\t0\t0\tNaN\t0\t0\n":                                  `x.tsv:1: column 4, input bytes: "NaN"`,
		"a\t0\t0\t0\t-5\t0\n":                                   `x.tsv:1: column 5, shuffle bytes: "-5"`,
		"a\t0\t0\t0\t0\t99999999999999999999\n":                 `x.tsv:1: column 6, output bytes`,
		"a\t5\t0\t0\t0\t0\nb\t4\t0\t0\t0\t0\n":                  `x.tsv:2: job "b" arrives at 4 s, before the previous job at 5 s`,
		"a\t5\t0\t0\t0\t0\na\t5\t0\t0\t0\t0\n":                  `x.tsv:2: job id "a" is repeated, first at x.tsv:1`,
		"a\t0\t0\t1152921504606846976\t0\t0\n":                  "x.tsv:1: 17179869184 maps of 67108864 bytes, expected at most",
		"a\t0\t0\t134217728\t0\t0\nb\t0\t0\t6710886400\t0\t0":   "x.tsv:2: 101 tasks beyond the 3 before",
		"a\t0\t0\t0\t0\t0\t" + strings.Repeat("x", maxSWIMLine): "a line of more than",
	} {
		_, err := ReadSWIM(strings.NewReader(text), "x.tsv", Options{MaxTasks: 100})
		wantError(t, err, want)
	}
	_, err := ReadSWIM(strings.NewReader("a\t0\t0\t1152921504606846976\t0\t0\n"), "x.tsv", Options{SWIM: SWIM{OriginalMachines: 1, TargetMachines: 1 << 40}})
	wantError(t, err, "x.tsv:1:", "expected at most")
}
