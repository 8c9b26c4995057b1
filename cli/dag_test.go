package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestDAGShow(t *testing.T) {
	for _, c := range []struct {
		line   string
		code   int
		stdout string // text that stdout contains
		stderr string
	}{
		{"dag", exitDone, "show", ""},
		{"dag shwo", exitUsage, "", "Did you mean this?\n\tshow\n"},
		{"dag show", exitUsage, "", "a program is missing"},
		{"dag show nosuch", exitUsage, "", "Unknown program 'nosuch' chosen.\nValid program names are:\n"},
		{"dag show wordcount --maps -1", exitUsage, "", "maps=-1: expected a number of at least 1"},
		{"dag show wordcount --reduces x", exitUsage, "", "--reduces"},
		{"dag show wordcount", exitDone, "Job wordcount, fingerprint", ""},
		{"dag show wordcount", exitDone, "In a run the number of maps follows from the input; here it is 4.", ""},
		{"dag show wordcount --maps 26", exitDone, "map     26     map     g0     the job's input\n", ""},
		{"dag show wordcount --reduces 3", exitDone, "reduce  3      reduce  g1     map (file, all-to-all)\n", ""},
		{"dag show wordcountpipe", exitDone, "g0     4      1 map, 1 reduce  b0      1 tokenise, 1 combine\n", ""},
		{"dag show streamcount --reduces 3", exitDone, "b1      1      2 map, 3 reduce  b0     2 g1, 3 g2\n", ""},
		{"dag show broadcastjoin", exitDone, "small (file, broadcast)", ""},
		{"dag show pagerankdag --reduces 6", exitDone, "round-3         6      reduce  g8     round-2 (file, all-to-all), links (file of round-0, one-to-one), round-2-totals (file, broadcast)\n", ""},
		{"dag show kmeans", exitDone, "points (file of assign-1, one-to-one), centres-2 (file, broadcast)\n", ""},
		{"dag show wordcount --dot", exitDone, "\ndigraph job {\n", ""},
		{"dag show teragen", exitDone, "map    4      map   g0     the job's input\n", ""},
		{"__complete dag show word", exitDone, "wordcount\t", ""},
	} {
		code, stdout, stderr := call(strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("hammr %s: exit code %d\n%s%s", c.line, code, stdout, stderr)
		}
	}
}

func TestDAGShowKnowsEveryBundledProgram(t *testing.T) {
	for _, p := range examples.Programs() {
		code, stdout, stderr := call("dag", "show", p.Name)
		if got := strings.Count(stdout, "BUNDLE  COUNT"); code != exitDone || got != len(p.Jobs) {
			t.Errorf("%s: exit code %d, %d graphs of %d jobs\n%s", p.Name, code, got, len(p.Jobs), stderr)
		}
	}
}

// TestDAGShowOfArguments checks that the arguments of a program change the graph of its
// first job.
func TestDAGShowOfArguments(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	must.Do(t, os.WriteFile(in, []byte("a b\na\n"), 0o644))
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"wordcount -D mapreduce.job.reduces=3 " + in + " " + out, exitDone, "as it would run on these arguments.\n\nSTAGE   NODES  SLOT    GROUP  READS\nmap     1 ", ""},
		{"--reduces 3 wordcount " + in + " " + out, exitDone, "\nreduce  3  ", ""},
		{"grep " + in + " " + out + " a --dot", exitDone, " Jobs that come after it are not shown.\ndigraph job {\n", ""},
		{"wordcount " + in + " " + in, exitFailed, "", "exists"},
		{"wordcount /no/such " + out, exitFailed, "", "/no/such"},
		{"wordcount --maps 3 " + in + " " + out, exitUsage, "", "--dag=maps=3 with arguments"},
		{"wordcount " + in, exitUsage, "", "Usage: wordcount <in>"},
		{"wordcount --dag=png", exitUsage, "", `option --dag: "png": expected text, dot, or maps=N`},
		{"-h wordcount", exitDone, "--reduces number", ""},
	} {
		code, stdout, stderr := call(append([]string{"dag", "show"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("hammr dag show %s: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the output is there: %v", err)
	}
}

// TestDAGShowOfFiles runs scripts in place of programs. The e2e tests run real programs.
func TestDAGShowOfFiles(t *testing.T) {
	script := func(text string) string { return writeProgram(t, []byte("#!/bin/sh\n"+text)) }
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{script(`echo Job "$@"`) + " in out", exitDone, "Job --dag=text in out\n", ""},
		{"--maps 7 --reduces=2 --dot " + script(`printf //; echo " Job" "$@"`) + " -D a=b", exitDone, "// Job --dag=dot,maps=7 -D mapreduce.job.reduces=2 -D a=b\n", ""},
		{script(`echo Job "$@"`) + " -- --dot", exitDone, "Job --dag=text -- --dot\n", ""},
		{script("echo Hello"), exitFailed, "Hello\n", "ended without showing a graph; a Hammr program ends its main with mr.Main"},
		{script("exit 7"), 7, "", "showed no graph and ended with exit code 7"},
		{script("kill -9 $$"), exitFailed, "", "showed no graph and was ended: signal: killed"},
		{writeProgram(t, []byte("text")), exitFailed, "", "neither a program for Linux nor a script"},
		{systemProgram(t), exitFailed, "", "not a Hammr program, since it is not one of Go"},
		{t.TempDir(), exitFailed, "", "a directory; name the file of a program"},
		{"./nosuch", exitFailed, "", "no such file"},
	} {
		code, stdout, stderr := call(append([]string{"dag", "show"}, strings.Fields(c.args)...)...)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) {
			t.Errorf("hammr dag show %s: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}
