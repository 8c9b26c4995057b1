package testdfsio

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// stage has the base directory and the log of a test.
type stage struct {
	*testing.T
	base, log string
}

func newStage(t *testing.T) *stage {
	return &stage{T: t, base: t.TempDir() + "/base", log: filepath.Join(t.TempDir(), "results.log")}
}

// run runs the program with options. It returns the printed values by the text before each
// colon.
func (s *stage) run(args ...string) map[string]string {
	s.Helper()
	got := s.exec(args...)
	if got.Code != mr.ExitDone {
		s.Fatalf("%s: exit code %d\n%s", args, got.Code, got.Stderr)
	}
	printed := make(map[string]string)
	for line := range strings.Lines(got.Stdout) {
		name, value, _ := strings.Cut(line, ": ")
		printed[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return printed
}

func (s *stage) exec(args ...string) mrtest.Result {
	s.Helper()
	return mrtest.Exec(s, Program(), append([]string{"-D", baseProperty + "=file://" + s.base, "-resFile", s.log}, args...)...)
}

// want checks the output of a test. Rates depend on the machine and are not checked.
func (s *stage) want(printed map[string]string, test, files, megabytes string) {
	s.Helper()
	if printed["----- TestDFSIO -----"] != test || printed["Number of files"] != files || printed["Total MBytes processed"] != megabytes {
		s.Errorf("printed %v, want %s of %s files and %s MB", printed, test, files, megabytes)
	}
	if throughput, err := strconv.ParseFloat(printed["Throughput mb/sec"], 64); err != nil || throughput < 0 {
		s.Errorf("throughput %q", printed["Throughput mb/sec"])
	}
}

func TestWriteReadClean(t *testing.T) {
	s := newStage(t)
	written := s.run("-write", "-nrFiles", "3", "-size", "1500KB", "-bufferSize", "70001")
	s.want(written, "write", "3", "4.39") // 3 * 1500 / 1024
	for i := range 3 {
		content, err := os.ReadFile(fmt.Sprintf("%s/io_data/test_io_%d", s.base, i))
		if err != nil || len(content) != 1500<<10 {
			t.Fatalf("file %d: %d bytes, %v", i, len(content), err)
		}
		for at, c := range content {
			if want := byte('0' + at%70001%50); c != want {
				t.Fatalf("file %d, byte %d: %q, want %q", i, at, c, want)
			}
		}
	}
	s.want(s.run("-read", "-nrFiles", "3", "-size", "1500KB"), "read", "3", "4.39")
	s.want(s.run("-read", "-nrFiles", "2", "-size", "512kb"), "read", "2", "1")
	s.want(s.run("-READ", "-nrfiles", "1", "-filesize", "7"), "read", "1", "1.46") // the file is shorter than the requested size
	s.want(s.run("-write", "-size", "0"), "write", "1", "0")
	if left := s.left("/io_data/*"); len(left) != 1 {
		t.Errorf("what an earlier test wrote is left: %q", left)
	}
	s.checkLog("write", "read", "read", "read", "write")

	if printed := s.run("-clean"); len(printed) != 0 {
		t.Errorf("-clean prints %v", printed)
	}
	if left := s.left(""); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	s.run("-clean") // a second clean has nothing to remove
}

func (s *stage) left(pattern string) []string {
	found, err := filepath.Glob(s.base + pattern)
	must.Do(s, err)
	return found
}

// checkLog checks that the log has the results of these tests, one after another.
func (s *stage) checkLog(tests ...string) {
	s.Helper()
	content, err := os.ReadFile(s.log)
	must.Do(s, err)
	const number = `\d+(\.\d\d?)?\n`
	var want strings.Builder
	for _, test := range tests {
		want.WriteString(`----- TestDFSIO ----- : ` + test + `\n` +
			`            Date & time: [A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \S+ \d{4}\n` +
			`        Number of files: \d\n` +
			` Total MBytes processed: ` + number +
			`      Throughput mb/sec: ` + number +
			` Average IO rate mb/sec: ` + number +
			`  IO rate std deviation: ` + number +
			`     Test exec time sec: ` + number + `\n`)
	}
	if !regexp.MustCompile("^" + want.String() + "$").Match(content) {
		s.Errorf("log:\n%s", content)
	}
}

// TestOneMapAFile checks by the counters that each file has one map.
func TestOneMapAFile(t *testing.T) {
	s := newStage(t)
	for _, test := range []string{"-write", "-read"} {
		got := s.exec(test, "-nrFiles", "5", "-size", "1000B")
		for _, line := range []string{"Launched map tasks=5\n", "Launched reduce tasks=1\n", "Map input records=5\n", "Reduce output records=5\n"} {
			if !strings.Contains(got.Stderr, line) {
				t.Errorf("%s: no %q in\n%s", test, line, got.Stderr)
			}
		}
	}
}

// TestCleanLeavesOthersAlone checks that clean keeps a file of another program in the base
// directory.
func TestCleanLeavesOthersAlone(t *testing.T) {
	s := newStage(t)
	s.run("-write", "-size", "1B")
	must.Do(t, os.WriteFile(s.base+"/thesis", nil, 0o644))
	s.run("-clean")
	if left := s.left("/*"); len(left) != 1 || filepath.Base(left[0]) != "thesis" {
		t.Errorf("left: %q", left)
	}
}

func TestNothingToRead(t *testing.T) {
	s := newStage(t)
	refused := func(reason string) {
		t.Helper()
		if got := s.exec("-read", "-nrFiles", "2"); got.Code != mr.ExitFailed || got.Stdout != "" || !strings.Contains(got.Stderr, reason) {
			t.Errorf("exit code %d, printed %q\n%s", got.Code, got.Stdout, got.Stderr)
		}
	}
	refused("2 files to read, but there are 0 in file://" + s.base + "/io_data; write them with -write -nrFiles 2 first")
	s.run("-write", "-size", "1B")
	refused("2 files to read, but there are 1 in ")
}

func TestInvalidLog(t *testing.T) {
	s := newStage(t)
	s.log = filepath.Join(t.TempDir(), "none", "log")
	if got := s.exec("-write", "-size", "1B"); got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, "log of the results, see -resFile: open "+s.log) {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

// TestLines compares the figures of two files with a calculation by hand: 20 MB in 3 s, at 5
// and at 10 MB/s.
func TestLines(t *testing.T) {
	all := make(sums)
	for _, took := range []time.Duration{2 * time.Second, time.Second} {
		for name, value := range sumsOf(10*megabyte, took) {
			must.Do(t, all.parse(fmt.Sprintf("%s\t%v\n", name, value)))
		}
	}
	now := time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	extest.Equal(t, all.lines("write", now, 4500*time.Millisecond), `----- TestDFSIO ----- : write
            Date & time: Wed Mar 04 05:06:07 UTC 2026
        Number of files: 2
 Total MBytes processed: 20
      Throughput mb/sec: 6.67
 Average IO rate mb/sec: 7.5
  IO rate std deviation: 2.5
     Test exec time sec: 4.5

`)
	if err := all.parse("l:size\n"); err == nil {
		t.Error("a line without a value is parsed")
	}
}

func TestNoTimeIsNoFault(t *testing.T) {
	for name, value := range sumsOf(1, 0) {
		if math.IsInf(value, 0) || math.IsNaN(value) {
			t.Errorf("%s is %v", name, value)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7": 7 << 20, "100B": 100, "10kb": 10 << 10, "3K": 3 << 10, "10MB": 10 << 20, "1m": 1 << 20,
		"2GB": 2 << 30, "1TB": 1 << 40, "8388607T": 8388607 << 40,
		"": -1, "MB": -1, "1.5GB": -1, "-1": -1, "+1": -1, "1BB": -1, "1PB": -1, "8388608T": -1, "1ıMB": -1, "1 MB": -1,
	} {
		got, err := parseSize(text)
		if want < 0 && err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
		if want >= 0 && (err != nil || got != want) {
			t.Errorf("%q is read as %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	extest.Refused(t, Program(), "")
	extest.Refused(t, Program(), "", "-nrFiles", "3")
	extest.Refused(t, Program(), "option -append: the files here are written once", "-append", "-nrFiles", "3")
	extest.Refused(t, Program(), "option -truncate: ", "-truncate")
	extest.Refused(t, Program(), "option -compression: not known", "-write", "-compression", "gzip")
	extest.Refused(t, Program(), "option -read: a test in addition to -write", "-write", "-read")
	extest.Refused(t, Program(), "option -size: a value is missing", "-write", "-size")
	extest.Refused(t, Program(), `option -size: "big" is not a size`, "-write", "-size", "big")
	extest.Refused(t, Program(), `option -nrFiles: "0" is not a whole number`, "-write", "-nrFiles", "0")
	extest.Refused(t, Program(), `option -bufferSize: "9999999999"`, "-write", "-bufferSize", "9999999999")
}
