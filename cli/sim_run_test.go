package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
)

// mixSpec is a workload of two classes for a small cluster.
const mixSpec = `arrival=exp:6s
class=small,jobs=6,maps=uniform:1:4,map=lognormal:8s:0.5
class=big,jobs=2,maps=const:12,reduces=const:2,map=lognormal:10s:0.3,reduce=const:15s
`

// simDir makes a directory with mix.spec and makes it the working directory.
func simDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "mix.spec", mixSpec)
}

// wantText compares an output with the expected one.
func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is\n%s\nwant\n%s", what, got, want)
	}
}

// names returns the files of a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestSimRun(t *testing.T) {
	simDir(t)
	code, stdout, stderr := call(strings.Fields("sim run --workload mix.spec --policy fifo,fair --nodes 3 --map-slots 2 --reduce-slots 1 " +
		"--conf fair:hammr.fair.conserve.shares=false --fail n0002@60+30 --tasks --decisions --out deep/out")...)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	wantText(t, "summary", stdout, `mix.spec: 8 jobs on 3 machines; offered load 0.67 of the map slots, 0.22 of the reduce slots

  POLICY  JOBS  MEAN SOJOURN     P50     P95     P99  MEAN SLOWDOWN  LOCAL MAPS  PREEMPTED  WORK LOST  CONSERVED  ALL OVER AFTER
    fifo     8        42.6 s  46.9 s  73.0 s  73.0 s           2.88     100.0 %          0        0 s        0 s           125 s
    fair     8        32.2 s  16.8 s  81.1 s  81.1 s           1.70     100.0 %          0        0 s        0 s           133 s
`)
	wantText(t, "directory", names(t, "deep/out"),
		"decisions.jsonl jobs.csv slots.svg sojourn-by-class.svg sojourn.svg tasks.csv")
	wantText(t, "parent of the directory", names(t, "deep"), "out")
	for file, head := range map[string]string{"decisions.jsonl": `{"at":`, "jobs.csv": "policy,jobid,pool,submit_s,", "tasks.csv": "policy,jobid,phase,task,attempt,machine,"} {
		if got, err := os.ReadFile(filepath.Join("deep/out", file)); err != nil || !strings.HasPrefix(string(got), head) {
			t.Errorf("%s: %.80q, %v", file, got, err)
		}
	}
	svg, err := os.ReadFile("deep/out/slots.svg")
	for _, words := range []string{">fifo<", ">fair<", ">n0002 is lost<", ">n0001 maps<", ">n0003 reduces<", ">job1<"} {
		if err != nil || !strings.Contains(string(svg), words) {
			t.Errorf("slots.svg without %s: %v", words, err)
		}
	}
}

func TestSimRunWithSeveralSeeds(t *testing.T) {
	simDir(t)
	line := "sim run --workload spec:jobs=5,arrival=exp:5s,maps=uniform:1:9,map=exp:9s --policy hfsp --size-error 1 --nodes 3 --map-slots 2 --reduce-slots 1 --runs 7 --seed 3 --tasks --out "
	code, stdout, stderr := call(strings.Fields(line + "out")...)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	for _, words := range []string{"7 runs, seeds 3 to 9: medians, and the 95 % interval of each by order statistics\n", "\n    hfsp  "} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
	wantText(t, "directory", names(t, "out"), "run-001 run-002 run-003 run-004 run-005 run-006 run-007 slots.svg sojourn.svg")
	wantText(t, "directory of a run", names(t, "out/run-007"), "jobs.csv tasks.csv")
	if code, again, _ := call(strings.Fields(line + "again")...); code != exitDone || again != stdout {
		t.Errorf("the same seeds again: exit code %d\n%s", code, again)
	}
	pictures := strings.Fields(names(t, "out"))[7:]
	for _, file := range append(pictures, "run-001/jobs.csv", "run-007/jobs.csv", "run-007/tasks.csv") {
		a, err := os.ReadFile(filepath.Join("out", file))
		b, err2 := os.ReadFile(filepath.Join("again", file))
		if err != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("%s differs in the second run", file)
		}
	}
}

func TestSimRunRefuses(t *testing.T) {
	simDir(t)
	writeFile(t, "twice.csv", "job,arrival_s,maps,reduces,map_input_bytes,shuffle_bytes\na,0,1,0,5,0\na,1,1,0,5,0\n")
	writeFile(t, "taken", "mine")
	writeFile(t, "blank.xml", "\n")
	for flags, want := range map[string]string{
		"--nodes 0":                               "--nodes 0: expected 1 to 1000000",
		"--nodes 2 --map-slots -1":                "--map-slots -1: expected 0 to 10000",
		"--nodes 2 --map-slots 0":                 `job "job1" has 3 maps, and there is no slot for them; expected --map-slots of 1 or more`,
		"--nodes 2 --reduce-slots 0":              `job "job2" has 2 reduces, and there is no slot for them; expected --reduce-slots of 1 or more`,
		"--nodes 2 --policy fifo,fifo":            `--policy: "fifo" is named twice`,
		"--nodes 2 --policy fifo --size-error 1":  "--size-error: none of fifo estimates sizes; hfsp does",
		"--nodes 2 --policy hfsp --size-error -1": "--size-error -1: expected 0 to 10",
		"--nodes 2 --policy lottery":              `--policy: policy "lottery": not one of ` + strings.Join(registry.Names(), ", "),
		"--nodes 2 --conf hfsp:a=b":               `--conf: policy "hfsp" is none of fifo`,
		"--nodes 2 --policy disco,fifo --conf hammr.disco.transition.hold=5": "--policy: policy fifo: setting hammr.disco.transition.hold: the policy has no settings; " +
			"--conf POLICY:NAME=VALUE sets one policy alone",
		"--nodes 2 --map-preemption gently": `--map-preemption: preempt: unknown mode "gently"; choose one of auto, wait, split, checkpoint, suspend, kill`,
		"--nodes 2 --fail n0003@10m":        "sim: failure of machine n0003 at 600000 ms for 0 ms: there are machines n0001 to n0002",
		"--nodes 2 --fail 2@job9:map:50":    `sim: failure of machine n0002 at 50 % of phase "map" of job "job9": workload mix.spec has no such job`,
		"--nodes 2 --fail n0001@soon": `--fail "n0001@soon": expected NODE@TIME or NODE@JOB:PHASE:PERCENT, then optionally +TIME until it is back, ` +
			"such as n0003@600, n0003@10m+5m or n0003@j1:map:50+30",
		"--nodes 999999999":                               "--nodes 999999999: expected 1 to 1000000",
		"--nodes 2 --reduce-slots 10001":                  "--reduce-slots 10001: expected 0 to 10000",
		"--nodes 2 --report-interval -3s":                 "--report-interval -3s: expected 0, or 1ms and more",
		"--nodes 2 --report-interval 3us":                 "--report-interval 3µs: expected 0, or 1ms and more",
		"--nodes 2 --latency -5s":                         "--latency -5s: expected 0 or more",
		"--nodes 2 --expiry 0":                            "--expiry 0s: expected 1ms or more",
		"--nodes 2 --allocations twice.csv":               "--allocations: none of fifo has pools of its own; fair does",
		"--nodes 2 --runs 0":                              "--runs 0: expected 1 to 10000",
		"--nodes 2 --workload twice.csv":                  `twice.csv:3: job id "a" is repeated, first at twice.csv:2; expected unique ids`,
		"--nodes 2 --workload nothing":                    "workload: stat nothing: no such file or directory",
		"--nodes 2 --out taken":                           "taken exists; remove it, or name another directory with --out",
		"--nodes 2 --allocations blank.xml --policy fair": "--policy: blank.xml:1: empty; expected <allocations>",
		"--nodes 2 --allocations nothing --policy fair":   "--policy: mapred.fairscheduler.allocation.file: open nothing: no such file or directory",
	} {
		code, stdout, stderr := call(slices.Concat(strings.Fields("sim run --workload mix.spec --out out"), strings.Fields(flags))...)
		if code != exitUsage || stdout != "" {
			t.Errorf("%s: exit code %d\n%s", flags, code, stdout)
		}
		wantText(t, flags, stderr, "hammr: "+want+"\n")
	}
	wantText(t, "directory after refusals", names(t, "."), "blank.xml mix.spec taken twice.csv")
}

// TestSimRunFails checks that runs that fail or are interrupted leave nothing.
func TestSimRunFails(t *testing.T) {
	simDir(t)
	code, stdout, stderr := call(strings.Fields("sim run --workload mix.spec --nodes 1 --fail n0001@10 --out out")...)
	if code != exitFailed || stdout != "" || !strings.HasPrefix(stderr, "hammr: policy fifo: sim: at ") || !strings.Contains(stderr, "nothing more happens") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := simRun{out: "out", runs: 1}
	s.addFlags(new(cobra.Command))
	s.source.addFlags(new(cobra.Command))
	s.source.file = "mix.spec"
	s.cfg.Machines = 3
	if err := s.run(ctx, io.Discard, io.Discard); err == nil {
		t.Error("an interrupted run succeeds")
	}
	wantText(t, "directory", names(t, "."), "mix.spec")
}

func TestParseFailure(t *testing.T) {
	for text, want := range map[string]sim.Failure{
		"n0004@600":               {Machine: 3, At: 600_000},
		"n0004@0.5+1.25":          {Machine: 3, At: 500, BackAfter: 1250},
		"4@10m":                   {Machine: 3, At: 600_000},
		"n12345@10m":              {Machine: 12344, At: 600_000},
		"n0001@1h+5m":             {At: 3_600_000, BackAfter: 300_000},
		"n0004@j1:map:50":         {Machine: 3, Job: "j1", Phase: "map", Percent: 50},
		"n0004@a:b+c:reduce:0.5%": {Machine: 3, Job: "a:b+c", Phase: "reduce", Percent: 0.5},
		"n0004@j@1:map:100+30":    {Machine: 3, Job: "j@1", Phase: "map", Percent: 100, BackAfter: 30_000},
	} {
		if got, err := parseFailure(text); got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "3@", "@5s", "x@5s", "0@5", "n0000@5", "n-1@5", "nn1@5", "3@-5s", "3@-5", "3@Inf", "3@NaN", "3@1e3", "3@5s+", "3@5s+x", "3@j:map", "3@:map:5", "3@j:sort:5", "3@j:map:x", "3@j:map:5+x"} {
		if f, err := parseFailure(text); err == nil {
			t.Errorf("%q is %+v", text, f)
		}
	}
}

// TestSimRunWarnsOfIgnoredElements checks the warning for an unknown element in the
// allocation file.
func TestSimRunWarnsOfIgnoredElements(t *testing.T) {
	simDir(t)
	writeFile(t, "pools.xml", "<allocations>\n<pool name='a'><wait>3</wait></pool></allocations>")
	code, _, stderr := call(strings.Fields("sim run --workload mix.spec --policy fair --nodes 3 --allocations pools.xml --out out")...)
	if code != exitDone || !strings.HasPrefix(stderr, "hammr: pools.xml:2: <wait>") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

func TestMeterLine(t *testing.T) {
	wantText(t, "line", meterLine("fair", 25, 100, 4_000_500), "fair ▕██████                  ▏ 25 of 100 jobs  1h6m40s")
}
