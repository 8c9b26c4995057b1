package cli

import (
	"strings"
	"testing"
)

// threeJobs is a SWIM trace of a cluster of 600 machines.
const threeJobs = "job0\t0\t0\t1200000000\t0\t0\njob1\t10\t10\t600\t60000000000\t1024\njob2\t30\t20\t7200000000\t600\t600\n"

// TestSimRunOfASWIMTrace compares the offered load with a value calculated by hand. For
// example, on 600 machines 127 maps of 3,913 s and 122 reduces of 26,172 s arrive within ten
// seconds.
func TestSimRunOfASWIMTrace(t *testing.T) {
	simDir(t)
	writeFile(t, "day.tsv", threeJobs)
	for flags, want := range map[string]string{
		"--nodes 600":                 "offered load 0.16 of the map slots, 2.18 of the reduce slots",
		"--nodes 10":                  "offered load 0.29 of the map slots, 2.20 of the reduce slots",
		"--nodes 10 --swim-nodes 300": "offered load 0.43 of the map slots, 4.36 of the reduce slots",
		"--nodes 10 --swim-plain":     "offered load 0.06 of the map slots, 0.76 of the reduce slots",
		"--nodes 10 --map-time 3s --reduce-time 4s --task-start 1s": "offered load 0.02 of the map slots, 0.13 of the reduce slots",
	} {
		code, stdout, stderr := call(strings.Fields("sim run --swim day.tsv --quiet --out " + strings.ReplaceAll(flags, " ", "_") + " " + flags)...)
		line, _, _ := strings.Cut(stdout, "\n")
		if code != exitDone || !strings.HasSuffix(line, want) {
			t.Errorf("%s: exit code %d, %q\n%s", flags, code, line, stderr)
		}
	}
}

func TestSimRunOfNoSuchWorkload(t *testing.T) {
	simDir(t)
	writeFile(t, "day.tsv", threeJobs)
	for flags, want := range map[string]string{
		"":                                   "at least one of the flags in the group [workload swim] is required",
		"--workload mix.spec --swim day.tsv": "none of the others can be",
		"--swim day.tsv --format csv":        "none of the others can be",
		"--swim day.tsv --swim-nodes 0":      "--swim-nodes 0: expected at least 1",
		"--swim day.tsv --task-start -1s":    "--task-start -1s",
		"--swim day.tsv --map-time 1s":       "expected longer than the start",
		"--swim mix.spec":                    "mix.spec:1",
	} {
		code, _, stderr := call(strings.Fields("sim run --nodes 2 --out out " + flags)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s", flags, code, stderr)
		}
	}
}
