package engines

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// fakeHammr is a program whose HDFS is a directory of this machine. As an engine it copies its input, or
// fails at what FAILS names.
const fakeHammr = `#!/bin/sh -e
last() { for word; do :; done; echo "$word"; }
case $1 in
run)
	[ "$2" != "$FAILS" ] || { echo "cannot $2" >&2; exit 1; }
	mkdir "$(last "$@")"; echo "$2" >"$(last "$@")/part-00000"; echo "$2" >>"$LOG" ;;
fs)
	shift; command=$1; shift
	case $command in
	-test) [ -e "$2" ] ;;
	-mkdir) mkdir -p "$2" ;;
	-rm) shift 3; rm -rf $* ;;
	-put) [ "$1" != -f ] || shift; cp -r "$1" "$2" ;;
	-mv) mv "$1" "$2" ;;
	-get) cp -r "$1" "$2" ;;
	esac ;;
esac
`

// fake returns a comparison of Hammr alone, and its machines.
func fake(t *testing.T, fails string) (*Comparison, *Machines) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "hammr")
	must.Do(t, os.WriteFile(file, []byte(fakeHammr), 0o700))
	c := &Comparison{Engines: Names, Work: []string{"terasort", "index"}, Runs: 2, Rounds: 1, Size: 1 << 20, Seed: 1, Dir: filepath.Join(dir, "out"), Scratch: dir, Venv: filepath.Join(dir, "none"), Logf: t.Logf}
	must.Do(t, c.Validate())
	must.Do(t, os.Mkdir(c.Dir, 0o700))
	return c, &Machines{
		Hammr: testcluster.Program{File: file, Environ: []string{"LOG=" + filepath.Join(dir, "log"), "FAILS=" + fails}},
		Files: filepath.Join(dir, "hdfs"), Tasknodes: 2, Slots: 3, NoYARN: errors.New("no java"),
	}
}

// TestLeftOutAndFailed checks that engines without YARN and failed runs are named, and the rest runs.
func TestLeftOutAndFailed(t *testing.T) {
	c, m := fake(t, "invertedindex")
	s, err := c.Run(t.Context(), m)
	must.Do(t, err)
	if len(s.LeftOut) != 2 || !strings.Contains(s.LeftOut[0], "hadoop is left out: YARN does not start: no java") {
		t.Errorf("left out: %q", s.LeftOut)
	}
	var table strings.Builder
	must.Do(t, c.Table(s).CSV(&table))
	lines := strings.Split(table.String(), "\n")
	if len(s.Runs) != 4 || !strings.HasPrefix(lines[1], "terasort,hammr,2,") || lines[4] != "index,hammr,0,–,–,–,–,failed; see samples.json" {
		t.Errorf("%+v\n%s", s.Runs, table.String())
	}
	must.Do(t, c.Write(s, "- here\n"))
	m.Hammr.Environ = append(m.Hammr.Environ, "FAILS=")
	again, err := c.Run(t.Context(), m)
	must.Do(t, err)
	if times, failure := again.of("index", "hammr"); len(times) != 2 || failure != "" || len(again.Runs) != 4 {
		t.Errorf("repeated: %v, %q", times, failure)
	}
	report, err := os.ReadFile(filepath.Join(c.Dir, "compare.md"))
	if err != nil || !strings.Contains(string(report), s.LeftOut[1]) || strings.Count(string(report), "| hadoop |") != 2 {
		t.Errorf("%v\n%s", err, report)
	}
}

// TestContinued checks that a comparison runs only what an interrupted one has not run, and refuses the
// samples of other inputs.
func TestContinued(t *testing.T) {
	c, m := fake(t, "")
	c.Engines, c.Runs = Names[:1], 1
	_, err := c.Run(t.Context(), m)
	must.Do(t, err)
	c.Runs = 2
	s, err := c.Run(t.Context(), m)
	must.Do(t, err)
	log, err := os.ReadFile(filepath.Join(c.Scratch, "log"))
	if err != nil || string(log) != strings.Repeat("terasort\ninvertedindex\n", 2) || len(s.Runs) != 4 {
		t.Errorf("%v: %s%+v", err, log, s.Runs)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Scratch, "*")); slices.Contains(left, m.Files) {
		t.Errorf("the inputs are left: %v", left)
	}
	c.Seed = 2
	if _, err := c.Run(t.Context(), m); err == nil || !strings.Contains(err.Error(), "seed 1; use the same, or another directory") {
		t.Error(err)
	}
}

// TestOtherOutput checks that an output that differs from the first engine's is a failure.
func TestOtherOutput(t *testing.T) {
	c, m := fake(t, "")
	reference := filepath.Join(c.Dir, "reference", "terasort")
	must.Do(t, os.MkdirAll(reference, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(reference, "part-00000"), []byte("other\n"), 0o600))
	c.Work = c.Work[:1]
	s, err := c.Run(t.Context(), m)
	must.Do(t, err)
	if times, failure := s.of("terasort", "hammr"); len(times) != 1 || !strings.Contains(failure, "outputs differ from byte 0 on") {
		t.Errorf("%v, %q", times, failure)
	}
}

func TestValidate(t *testing.T) {
	err := (&Comparison{Engines: []string{"flink"}, Work: []string{"sort"}, Size: 5}).Validate()
	for _, want := range []string{`engine "flink": not one of hammr, hadoop, spark`, `work "sort": not one of wordcount, terasort`, "runs 0", "size 5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
