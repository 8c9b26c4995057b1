package mr

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestParseArgs(t *testing.T) {
	o, err := parseArgs(strings.Fields("-D a=b --quiet -Dc=d=e -fs hdfs://nn:1 -conf x.xml -files f,g#h in --report=r.json -x out --workers 3 --pool nightly"), nil)
	must.Do(t, err)
	if want := []string{"mapreduce.job.queuename=nightly", "a=b", "c=d=e"}; !slices.Equal(o.define, want) {
		t.Errorf("define %q, want %q", o.define, want)
	}
	if want := []string{"in", "-x", "out"}; !slices.Equal(o.args, want) {
		t.Errorf("args %q, want %q", o.args, want)
	}
	if o.fs != "hdfs://nn:1" || o.files != "f,g#h" || !slices.Equal(o.conf, []string{"x.xml"}) {
		t.Errorf("fs %q files %q conf %q", o.fs, o.files, o.conf)
	}
	if !o.quiet || o.report != "r.json" || o.workers != 3 {
		t.Errorf("quiet %v report %q workers %d", o.quiet, o.report, o.workers)
	}
}

func TestParseArgsAfterDoubleDash(t *testing.T) {
	o, err := parseArgs([]string{"in", "out", "--", "--quiet", "-h", "--unknown", "--"}, nil)
	must.Do(t, err)
	if o.quiet || o.help {
		t.Error("an option behind -- was read")
	}
	if want := []string{"in", "out", "--quiet", "-h", "--unknown", "--"}; !slices.Equal(o.args, want) {
		t.Errorf("args %q, want %q", o.args, want)
	}
}

func TestParseArgsAcceptsOptionsOfTheProgram(t *testing.T) {
	o, err := parseArgs(strings.Fields("-D a=b in --rounds=5 --seed 7 out"), []string{"--rounds", "--seed"})
	must.Do(t, err)
	if want := []string{"in", "--rounds=5", "--seed", "7", "out"}; !slices.Equal(o.args, want) {
		t.Errorf("args %q, want %q", o.args, want)
	}
}

func TestParseArgsErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-D", "option -D: a value is missing"},
		{"-D novalue in out", "write it as property=value"},
		{"--workers 0 in out", `"0" is not a number of at least 1`},
		{"--report", "option --report: a value is missing"},
		{"-libjars x.jar in out", "programs are Go binaries"},
		{"--fast in out", "option --fast: unknown"},
		{"in out --reduces=3", "option --reduces: unknown"},
		{"-D a=b --fs hdfs://nn in out", "option --fs: unknown"},
	} {
		_, err := parseArgs(strings.Fields(c.args), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.args, err, c.want)
		}
	}
}
