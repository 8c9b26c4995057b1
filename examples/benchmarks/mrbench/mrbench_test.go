package mrbench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestMrbench checks the number of runs, the maps, reduces and lines of each run, and the
// table. It also checks that no files remain.
func TestMrbench(t *testing.T) {
	for _, c := range []struct {
		args                       string
		runs, maps, reduces, lines int
	}{
		{"", 1, 2, 1, 1},
		{"-numRuns 3 -maps 4 -reduces 2 -inputLines 100", 3, 4, 2, 100},
		{"-maps 7 -inputLines 2 -inputType descending", 1, 7, 1, 2},
		{"-maps 3 -reduces 3 -inputLines 0", 1, 3, 3, 0},
		{"-maps 2 -inputLines 10 -inputType RANDOM", 1, 2, 1, 10},
	} {
		dir := t.TempDir()
		got := mrtest.Exec(t, Program(), append(strings.Fields(c.args), "-baseDir", dir+"/")...)
		table := fmt.Sprintf(`^DataLines\tMaps\tReduces\tAvgTime \(milliseconds\)\n%d\t\t%d\t%d\t\d+\n$`, c.lines, c.maps, c.reduces)
		if got.Code != mr.ExitDone || !regexp.MustCompile(table).MatchString(got.Stdout) {
			t.Errorf("%s: exit code %d, printed %q\n%s", c.args, got.Code, got.Stdout, got.Stderr)
		}
		for line, want := range map[string]int{
			fmt.Sprintf("Launched map tasks=%d\n", c.maps): c.runs, fmt.Sprintf("Launched reduce tasks=%d\n", c.reduces): c.runs,
			fmt.Sprintf("Map input records=%d\n", c.lines): c.runs, fmt.Sprintf("Reduce output records=%d\n", c.lines): c.runs,
			"Total input files to process : 1\n": c.runs,
		} {
			if n := strings.Count(got.Stderr, line); n != want && !(c.lines == 0 && strings.HasPrefix(line, "Total")) {
				t.Errorf("%s: %q is there %d times, want %d", c.args, line, n, want)
			}
		}
		if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
			t.Errorf("%s: left behind: %q", c.args, left)
		}
	}
}

// TestEveryLineIsCopied runs the job on lines cut into any number of pieces.
func TestEveryLineIsCopied(t *testing.T) {
	o := options{lines: 1000, order: descending, maps: 1}
	var in strings.Builder
	must.Do(t, o.writeLines(&in))
	for _, maps := range []int{1, 3, 64} {
		got := mrtest.RunCase(t, Job, mrtest.Case{Inputs: []string{in.String()}, Set: map[string]string{mapsProperty: fmt.Sprint(maps)}})
		for i, r := range got.Records() {
			if want := fmt.Sprintf("%04d", i+1); string(r.Key) != want || len(r.Value) != 0 {
				t.Fatalf("%d maps: line %d is %q, %q", maps, i, r.Key, r.Value)
			}
		}
		if n := len(got.Records()); n != 1000 {
			t.Errorf("%d maps: %d lines", maps, n)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{lines: 3, maps: 1, order: ascending}, "0\n1\n2\n"},
		{options{lines: 3, maps: 2, order: descending}, "3\n2\n1\n"},
		{options{lines: 10, maps: 1, order: descending}, "10\n09\n08\n07\n06\n05\n04\n03\n02\n01\n"},
		{options{lines: 2, maps: 7, order: ascending}, "0000\n0001\n"},
		{options{lines: 0, maps: 2, order: ascending}, ""},
	} {
		var b strings.Builder
		if err := c.o.writeLines(&b); err != nil || b.String() != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.o, b.String(), err, c.want)
		}
	}
	var b strings.Builder
	o := options{lines: 50, maps: 1, order: random}
	must.Do(t, o.writeLines(&b))
	lines := slices.Sorted(strings.Lines(b.String()))
	if n := len(slices.Compact(lines)); n != 50 {
		t.Errorf("%d different lines at random, want 50", n)
	}
}

// TestCut checks that the pieces contain each byte of the file once, in order. Their sizes
// differ by one at most. No piece of the lines that writeLines writes is empty.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := options{maps: rapid.Int64Range(1, 60).Draw(t, "maps"), lines: rapid.Int64Range(0, 30).Draw(t, "lines")}
		size := o.lines * (o.width() + 1)
		end := int64(0)
		for i, s := range cut("f", size, o.maps) {
			p := s.Parts[0]
			if p.Start != end || p.Length < size/o.maps || p.Length > size/o.maps+1 || o.lines > 0 && p.Length == 0 {
				t.Fatalf("piece %d of %d bytes: %+v", i, size, p)
			}
			end += p.Length
		}
		if end != size {
			t.Fatalf("%d bytes, want %d", end, size)
		}
	})
}

func TestReport(t *testing.T) {
	o := options{runs: 3, maps: 5, reduces: 2, lines: 7, verbose: true}
	var b strings.Builder
	times := []time.Duration{100 * time.Millisecond, 201 * time.Millisecond, 50_900 * time.Microsecond}
	must.Do(t, o.report(&b, times))
	extest.Equal(t, b.String(), `Total MapReduce jobs executed: 3
Total lines of data per job: 7
Maps per job: 5
Reduces per job: 2
Total milliseconds for task: 1 = 100
Total milliseconds for task: 2 = 201
Total milliseconds for task: 3 = 50
DataLines	Maps	Reduces	AvgTime (milliseconds)
7		5	2	117
`)
}

func TestMrbenchRefuses(t *testing.T) {
	extest.Refused(t, Program(), "option in: not known", "in", "out")
	extest.Refused(t, Program(), "option -numRuns: a value is missing", "-verbose", "-numRuns")
	extest.Refused(t, Program(), `option -numRuns: "0" is not a whole number of at least 1`, "-numRuns", "0")
	extest.Refused(t, Program(), `option -inputLines: "-1"`, "-inputLines", "-1")
	extest.Refused(t, Program(), `"sideways" is none of ascending, descending and random`, "-inputType", "sideways")
	extest.Refused(t, Program(), "option -baseDir: a directory is missing", "-baseDir", "")
}

func TestInputExceedsTheDisk(t *testing.T) {
	file := mrtest.File(t, "file", "")
	got := mrtest.Exec(t, Program(), "-baseDir", file)
	if got.Code != mr.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, file) {
		t.Errorf("exit code %d, printed %q\n%s", got.Code, got.Stdout, got.Stderr)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
