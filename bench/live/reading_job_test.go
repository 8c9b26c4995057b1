package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sim/workload"
)

// someReader returns a job with 3 maps of 6.4 s and 2 reduces of 1.6 s, 10 times as fast: 10
// ms for each of 64 lines, and 16 words for each reduce.
func someReader() blockReadingJob {
	tasks := func(n int, ms int64) (list []workload.Task) {
		for range n {
			list = append(list, workload.Task{Millis: ms})
		}
		return list
	}
	return blockReadingJob{&workload.Job{ID: "j", SlowStart: -1, Maps: tasks(3, 6400), Reduces: tasks(2, 1600)}, 10, blockBytes}
}

func TestReadersSleepForTheirTimes(t *testing.T) {
	j := someReader()
	if got := j.recordSleep(); got != 10*time.Millisecond {
		t.Errorf("nap of %v, expected 10ms", got)
	}
	for _, block := range []int{blockBytes, 4 * blockBytes} {
		j.block = block
		if words := wordsOf(t, j); len(words) != 32 {
			t.Errorf("%d words, expected 16 for each reduce", len(words))
		}
	}
	const want = "wordcount -D mapreduce.job.name=j -D mapreduce.job.reduce.slowstart.completedmaps=0.05 -D hammr.debug.record.sleep=10000us" +
		" -D hammr.input.combine=false -D mapreduce.task.io.sort.mb=8 -D mapreduce.job.reduces=2 in"
	if got := j.submitted("in", "out"); strings.Join(got.Args, " ") != want || got.Out != "out" {
		t.Errorf("%+v\nwant %s", got, want)
	}
}

// wordsOf returns the words of a job's input. The input must have a block for each map.
func wordsOf(t *testing.T, j blockReadingJob) map[string]bool {
	t.Helper()
	var text strings.Builder
	must.Do(t, j.writeText(&text))
	if text.Len() != 3*j.block {
		t.Errorf("%d bytes of input, expected a block for each map: %d", text.Len(), 3*j.block)
	}
	words := make(map[string]bool)
	for line := range strings.Lines(text.String()) {
		if len(line) != j.block/blockLines {
			t.Fatalf("line of %d bytes: %q", len(line), line)
		}
		for _, w := range strings.Fields(strings.TrimRight(line, "-\n")) {
			words[w] = true
		}
	}
	return words
}

// TestBlockHosts checks how the hosts of blocks are parsed.
func TestBlockHosts(t *testing.T) {
	machines := map[string]string{"127.1.2.11": "n1", "127.1.2.12": "n2"}
	h, err := parseBlocks("hdfs://x/in: 24 bytes, 3 blocks\n0\t8\t127.1.2.12,127.1.2.11\n8\t8\t127.1.2.12\n16\t8\t-\n", machines)
	if err != nil || len(h) != 3 {
		t.Fatalf("%v, error %v; expected 3 blocks", h, err)
	}
	for _, c := range []struct {
		task    int
		machine string
		want    bool
	}{{0, "n1", true}, {0, "n2", true}, {1, "n1", false}, {1, "n2", true}, {2, "n1", false}, {3, "n1", false}, {-1, "n1", false}} {
		if got := h.local(c.task, c.machine); got != c.want {
			t.Errorf("map %d on %s: local %v", c.task, c.machine, got)
		}
	}
	if _, err := parseBlocks("in: 8 bytes, 1 blocks\nno block\n", machines); err == nil {
		t.Error("what is no block was read")
	}
}

// TestStreamedSleepsAlike checks that Hadoop's programs sleep as long as our tasks.
func TestStreamedSleepsAlike(t *testing.T) {
	dir := t.TempDir()
	args, err := someReader().streamed(dir)
	must.Do(t, err)
	mapper, reducer := filepath.Join(dir, "mapper.sh"), filepath.Join(dir, "reducer.sh")
	const want = "-D mapreduce.job.name=j -D mapreduce.job.reduce.slowstart.completedmaps=0.05 -D mapreduce.job.reduces=2" +
		" -D mapreduce.map.speculative=false -D mapreduce.reduce.speculative=false -files "
	if got := strings.Join(args, " "); got != want+mapper+","+reducer+" -mapper mapper.sh -reducer reducer.sh" {
		t.Errorf("arguments %s", got)
	}
	for file, want := range map[string]string{mapper: "sleep 0.010000\n", reducer: "sleep 0.010000\n"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, error %v; expected %q", file, text, err, want)
		}
	}
}

// TestHadoopWaitsAsTheSimulatedArm checks that the waits are divided by the speed-up.
func TestHadoopWaitsAsTheSimulatedArm(t *testing.T) {
	h := hadoop{scale: Scale{Speedup: 9}}
	h.trial.Setup.Placement.Delay = locality.Delay{MachineWait: 4500, RackWait: 9000}
	p := h.waits()
	if p["yarn.scheduler.fair.locality-delay-node-ms"] != "500" || p["yarn.scheduler.fair.locality-delay-rack-ms"] != "1000" {
		t.Errorf("properties %v", p)
	}
}

// TestTrialWithoutJavaIsSkipped checks that a trial is left out on a machine without Hadoop,
// but not after another error.
func TestTrialWithoutJavaIsSkipped(t *testing.T) {
	t.Setenv("HAMMR_HADOOP_JARS", filepath.Join(t.TempDir(), "none"))
	r := &Runner{Selection: &Selection{Paper: "hammr", Options: paper.Options{Short: true, Runs: 1, Seed: 1}}, Hammr: "/no/such/program", Work: t.TempDir(), Keep: t.TempDir(), Logf: t.Logf}
	trial := someTrial()
	trial.Experiment = "locality"
	_, err := r.Run(context.Background(), trial)
	if left := (*paper.LeftOut)(nil); !errors.As(err, &left) || left.Reason == "" {
		t.Errorf("error %v, expected that the trial is left out", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestComputingParts checks that each map has a file.
func TestComputingParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	must.Do(t, writeParts(dir, 3, 100))
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("%d files, error %v; expected 3", len(files), err)
	}
}
