package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func testKit(t *testing.T, rounds int) *Kit {
	t.Helper()
	dir := t.TempDir()
	k := &Kit{cfg: Config{Dir: dir, SizeBytes: 1 << 20, Rounds: rounds, Out: io.Discard}, work: t.TempDir()}
	k.bin = filepath.Join(k.work, "bin")
	must.Do(t, run(t.Context(), Command{Args: []string{"go", "build", "-o", k.Program("timed"), "./program/timed"}, Env: []string{"CGO_ENABLED=0"}}))
	return k
}

func shell(name, script string) Entry {
	return Entry{name, func(_ *Kit, in, out string) Command {
		return Command{Args: []string{"sh", "-c", script, in, out}}
	}}
}

var aaa = Input{Name: "aaa", Bytes: kibibyte, Lines: func(w *bufio.Writer, _ *rand.Rand, n int64) error {
	_, err := w.Write(bytes.Repeat([]byte("a"), int(n)))
	return err
}}

func TestContestAlternates(t *testing.T) {
	for name, want := range map[string]string{"warm": "or" + "oorr" + "rroo" + "oorr", "cold": "or" + "or" + "ro" + "or"} {
		t.Run(name, func(t *testing.T) { testAlternates(t, name == "cold", want) })
	}
}

func testAlternates(t *testing.T, cold bool, want string) {
	k := testKit(t, 3)
	k.cfg.Cold = cold
	log := filepath.Join(k.work, "log")
	c := Contest{
		Name: "copy", Input: aaa, Compare: sameBytes, Goals: Goals{Ratio: 1e9},
		Ours:  shell("ours", `echo o >>`+log+`; cp "$0" "$1"`),
		Rival: shell("rival", `echo r >>`+log+`; cat <"$0" >"$1"`),
	}
	r, err := k.runContest(t.Context(), c)
	must.Do(t, err)
	turns, err := os.ReadFile(log)
	if got := strings.Join(strings.Fields(string(turns)), ""); got != want || err != nil {
		t.Errorf("turns %s, %v; want %s", got, err, want)
	}
	if len(r.Ours.Samples) != 3 || len(r.Rival.Samples) != 3 || r.Ratio == nil || r.Met || !r.Compared {
		t.Errorf("result %+v: want 3 samples a side, compared, and a ratio that misses its goal", r)
	}
	if s := r.Ours.Samples[0]; s.Seconds <= 0 || s.MaxRSSBytes <= 0 {
		t.Errorf("sample %+v without time or memory", s)
	}
	if left, _ := filepath.Glob(filepath.Join(k.work, "o*")); len(left) > 0 {
		t.Errorf("outputs %v are left", left)
	}
}

func TestContestRefusesWrongOutput(t *testing.T) {
	k := testKit(t, 1)
	c := Contest{Name: "wrong", Input: aaa, Compare: sameBytes, Ours: shell("ours", `echo b >"$1"`), Rival: shell("rival", `cp "$0" "$1"`)}
	if _, err := k.runContest(t.Context(), c); err == nil || !strings.Contains(err.Error(), "differ from byte 0") {
		t.Errorf("error %v, want one that tells where the outputs differ", err)
	}
}

func TestMeasureReportsWhyACommandFailed(t *testing.T) {
	_, err := testKit(t, 1).measure(t.Context(), Command{Args: []string{"sh", "-c", "echo because >&2; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "because") {
		t.Errorf("error %v, want the status and what it said", err)
	}
}

// TestMeasureCountsNoMemoryOfOurs checks that a sample excludes this process's memory, even
// while it is large.
func TestMeasureCountsNoMemoryOfOurs(t *testing.T) {
	k := testKit(t, 1)
	ballast := bytes.Repeat([]byte("x"), 64<<20)
	s, err := k.measure(t.Context(), Command{Args: []string{"true"}})
	if err != nil || s.MaxRSSBytes <= 0 || s.MaxRSSBytes > 32<<20 {
		t.Errorf("memory of true: %d bytes, %v", s.MaxRSSBytes, err)
	}
	runtime.KeepAlive(ballast)
}

func TestChoose(t *testing.T) {
	names := func(patterns ...string) string {
		chosen, err := choose(contests(), patterns)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, c := range chosen {
			out = append(out, c.Name)
		}
		return strings.Join(out, " ")
	}
	if got, want := names("terasort*", "start"), "start terasort terasort-large terasort-hdfs"; got != want {
		t.Errorf("chosen %s, want %s", got, want)
	}
	if got := names(); strings.Contains(got, "hdfs") || !strings.Contains(got, "sort-zipf") {
		t.Errorf("chosen by default: %s", got)
	}
	if got := names("wordcont"); !strings.Contains(got, `"wordcont"`) {
		t.Errorf("no error for a case that is none, but %s", got)
	}
}

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goals Goals
		r     Result
		met   bool
	}{
		{Goals{}, Result{}, true},
		{Goals{Ratio: 0.7}, Result{Ratio: &Spread{Median: 0.7}}, true},
		{Goals{Ratio: 0.7}, Result{Ratio: &Spread{Median: 0.69}}, false},
		{Goals{Ratio: 0.7}, Result{}, false},
		{Goals{Seconds: 0.05}, Result{Ours: Side{Seconds: Spread{Median: 0.06}}}, false},
		{Goals{Seconds: 0.05}, Result{Ours: Side{Seconds: Spread{Median: 0.04}}}, true},
		{Goals{MaxRSSBytes: 10}, Result{Ours: Side{MaxRSSBytes: 11}}, false},
	} {
		if got := c.goals.met(c.r); got != c.met {
			t.Errorf("goals %q met by %+v: %v, want %v", c.goals, c.r, got, c.met)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    Spread
	}{
		{nil, Spread{}},
		{[]float64{2}, Spread{2, 2, 2}},
		{[]float64{3, 1, 2}, Spread{2, 1, 3}},
		{[]float64{4, 1, 2, 3}, Spread{2.5, 1, 4}},
	} {
		if got := spreadOf(c.figures); got != c.want {
			t.Errorf("spreadOf(%v) = %v, want %v", c.figures, got, c.want)
		}
	}
}

func TestAdversarialInputs(t *testing.T) {
	const size = 3 << 20
	for _, in := range adversarial {
		var a, b bytes.Buffer
		for _, to := range []*bytes.Buffer{&a, &b} {
			w := bufio.NewWriter(to)
			must.Do(t, in.Lines(w, in.random(), size))
			w.Flush()
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: not the same file twice", in.Name)
		}
		if n := a.Len(); n < size || n > size+100 {
			t.Errorf("%s: %d bytes, want %d", in.Name, n, size)
		}
		lines := bytes.SplitAfter(a.Bytes(), []byte("\n"))
		lines = lines[:len(lines)-1]
		switch sorted := slices.IsSortedFunc(lines, bytes.Compare); in.Name {
		case "equal", "sorted":
			if !sorted {
				t.Errorf("%s: lines out of order", in.Name)
			}
		case "short":
			if len(lines[0]) != 5 {
				t.Errorf("short: lines of %d bytes", len(lines[0]))
			}
		case "long":
			if len(lines) != 3 || len(lines[0]) != 1<<20 {
				t.Errorf("long: %d lines of %d bytes", len(lines), len(lines[0]))
			}
		}
	}
}

func TestSameCounts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(content), 0o644))
		return name
	}
	write("ours/part-r-00000", "b\t1234567\n")
	write("ours/part-r-00001", "a\t1\n7\t3\n")
	write("ours/_SUCCESS", "no output")
	ours := filepath.Join(dir, "ours")
	other := write("other-order", "a\t1\n7\t3\nb\t1234567\n")
	if err := sameCounts(ours, other); err != nil {
		t.Error(err)
	}
	if err := sameBytes(ours, write("bytes", "b\t1234567\na\t1\n7\t3\n")); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"a\t1\nb\t2\n", "a\t1\nb\t3\n7\t3\n", "a 1 1\n"} {
		if sameCounts(ours, write("other", other)) == nil {
			t.Errorf("no error for %q", other)
		}
	}
	if sameBytes(ours, write("shorter", "b\t2\n")) == nil {
		t.Error("no error for a rival that wrote less")
	}
}

func TestReportIsWritten(t *testing.T) {
	r := Report{Version: 1, Machine: ThisMachine(), Results: []Result{
		resultOf(Contest{Name: "x", Ours: Entry{Name: "o"}, Goals: Goals{Seconds: 1}}, 5, []Sample{{Seconds: 0.5}}, nil),
	}}
	name, err := r.write(filepath.Join(t.TempDir(), "results"))
	must.Do(t, err)
	data, err := os.ReadFile(name)
	var got Report
	if err != nil || json.Unmarshal(data, &got) != nil || len(got.Results) != 1 || !got.Results[0].Met || got.Machine.Cores < 1 {
		t.Errorf("report %s, %v", data, err)
	}
	var table bytes.Buffer
	printResults(&table, got.Results)
	if !strings.Contains(table.String(), "met") || !strings.Contains(table.String(), "0.500") {
		t.Errorf("table without the result:\n%s", &table)
	}
}
