package main

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/examples"
)

func TestDAGShow(t *testing.T) {
	for _, c := range []struct {
		line   string
		code   int
		stdout string // is in it
		stderr string
	}{
		{"dag", exitDone, "show", ""},
		{"dag shwo", exitUsage, "", "Did you mean this?\n\tshow\n"},
		{"dag show", exitUsage, "", "a program is missing"},
		{"dag show nosuch", exitUsage, "", "Unknown program 'nosuch' chosen.\nValid program names are:\n"},
		{"dag show wordcount --maps -1", exitUsage, "", `stage "map": -1 nodes`},
		{"dag show wordcount --reduces x", exitUsage, "", "--reduces"},
		{"dag show wordcount", exitDone, "Job wordcount, fingerprint", ""},
		{"dag show wordcount", exitDone, "In a run the number of maps follows from the input; here it is 4.", ""},
		{"dag show wordcount --maps 26", exitDone, "map     26     map     g0     the job's input\n", ""},
		{"dag show wordcount --reduces 3", exitDone, "reduce  3      reduce  g1     map (file, all-to-all)\n", ""},
		{"dag show wordcountpipe", exitDone, "g0     4      1 map, 1 reduce  b0      1 tokenise, 1 combine\n", ""},
		{"dag show streamcount --reduces 3", exitDone, "b1      1      2 map, 3 reduce  b0     2 g1, 3 g2\n", ""},
		{"dag show broadcastjoin", exitDone, "small (file, broadcast)", ""},
		{"dag show pagerankdag --reduces 6", exitDone, "round-3  6      reduce  g4     round-2 (file, all-to-all)\n", ""},
		{"dag show kmeans", exitDone, "points-3 (shm, one-to-one), centres-2 (file, broadcast)\n", ""},
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
