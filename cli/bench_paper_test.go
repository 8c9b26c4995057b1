package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// benchPaperCommand runs `hammr bench paper`.
func benchPaperCommand(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(append([]string{"bench", "paper"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestBenchPaper(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := benchPaperCommand("hammr", "--sim", "--short", "--seed", "3", "--out", dir)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"PAPER", "local maps of 26", "20 ", "seeds from 3"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.md"))
	must.Do(t, err)
	for _, want := range []string{"hammr bench paper hammr --sim --seed 3 --short --out DIR", "seeds 3 and 4", "with hammr "} {
		if !strings.Contains(string(report), want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	if code, _, stderr := benchPaperCommand("hammr", "--sim", "--out", dir); code != exitUsage || !strings.Contains(stderr, dir+" exists") {
		t.Errorf("directory that exists: exit code %d: %s", code, stderr)
	}
}

// TestBenchPaperWithoutHadoop checks that errors name the missing parts, and how to get
// them.
func TestBenchPaperWithoutHadoop(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	t.Setenv("HAMMR_HADOOP_JARS", "")
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	for _, only := range []string{"fifo-maps", "same-job"} {
		code, _, stderr := benchPaperCommand("chronos", "--cluster", "--only", only, "--out", out)
		if code != exitFailed || !strings.Contains(stderr, "experiment "+only+" of chronos") || !strings.Contains(stderr, "needs Java 11 or later on the PATH or in JAVA_HOME") {
			t.Errorf("%s: exit code %d: %s", only, code, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is an output directory")
	}
}

func TestBenchPaperFaults(t *testing.T) {
	dir := t.TempDir()
	out, hosts := filepath.Join(dir, "out"), filepath.Join(dir, "hosts")
	must.Do(t, os.WriteFile(hosts, []byte("a\nb\nc\n"), 0o644))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"hfsp", "--out", out}, "say where: --sim"},
		{[]string{"hfsp", "--cluster", "--sim", "--out", out}, "say where: --sim"},
		{[]string{"hfsp", "--sim", "--hostfile", hosts, "--out", out}, "say where: --sim"},
		{[]string{"hfsp", "--hostfile", filepath.Join(dir, "none"), "--out", out}, "--hostfile: open"},
		{[]string{"hfsp", "--hostfile", hosts, "--speed", "0", "--out", out}, "--speed 0: expected a number above 0"},
		{[]string{"hfsp", "--hostfile", hosts, "--scale", "-1", "--out", out}, "--scale -1"},
		{[]string{"hfsp", "--hostfile", hosts, "--only", "fig7", "--scale", "1", "--out", out}, "it needs 4 machines for tasks at --scale 1, and the hostfile has 2 beside the first; --scale 2 fits"},
		{[]string{"hfsp", "--sim", "--plan", "--out", out}, "--plan: expected --cluster or --hostfile"},
		{[]string{"hfsp", "--sim", "--only", "fig3", "--out", out}, "--only"},
		{[]string{"chronos", "--cluster", "--only", "fig3", "--out", out}, "--only fig3: not one of fifo-maps, fair-maps"},
		{[]string{"chronos", "--cluster", "--only", "table2", "--out", out}, "--only table2: it is not run on a real cluster: 32 machines"},
		{[]string{"hfsp", "--cluster", "--out", dir}, dir + " exists"},
		{[]string{"yarn", "--sim", "--out", out}, `"yarn": not one of hfsp`},
		{[]string{"--sim", "--out", out}, "the name of a paper is missing"},
		{[]string{"hfsp", "--sim"}, "out"},
		{[]string{"hfsp", "--sim", "--runs", "-1", "--out", out}, "--runs -1"},
		{[]string{"hfsp", "--sim", "--seed", "0", "--out", out}, "--seed 0"},
		{[]string{"hfsp", "--sim", "--workload-dir", filepath.Join(dir, "none"), "--out", out}, filepath.Join(dir, "none")},
		{[]string{"hfsp", "--sim", "--workload-dir", dir, "--out", out}, "hfsp_fb2009.csv"},
	} {
		code, _, stderr := benchPaperCommand(c.args...)
		if code == exitDone || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%v: there is an output directory", c.args)
		}
	}
}
