package redteam

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// bystanderJob is alice's job.
type bystanderJob struct {
	id, in, out, gate string
}

// startBystander submits alice's job with her rights, and waits until all of its maps but the
// first have finished. The first waits for the end of the attacks, and so do the reduces.
func (w *world) startBystander(t *testing.T) *bystanderJob {
	t.Helper()
	j := &bystanderJob{in: w.path("in"), out: w.path("out", "alice"), gate: w.path("gates", "alice")}
	must.Do(t, os.WriteFile(j.in, words(), 0o644))
	must.Do(t, os.WriteFile(j.gate, nil, 0o644))
	cmd := exec.CommandContext(t.Context(), bystander, "--detach", "-D", "redteam.gate="+j.gate, "-D", "mapreduce.job.reduces=2",
		"-D", "mapreduce.input.fileinputformat.split.maxsize=65536", "-D", "mapreduce.job.reduce.slowstart.completedmaps=0.1",
		"-D", "mapreduce.map.memory.mb=256", "-D", "mapreduce.reduce.memory.mb=256",
		"-D", "mapreduce.map.speculative=false", "-D", "mapreduce.reduce.speculative=false", "file://"+j.in, "file://"+j.out)
	cmd.Env = append(w.cluster.Environ(), "HOME="+w.path("out"), "USER="+w.alice.name, "HADOOP_USER_NAME="+w.alice.name, "HAMMR_TOKEN_FILE="+w.mastersToken(), "PATH="+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.alice.credential()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("alice's job: %v\n%s", err, &stderr)
	}
	j.id = strings.TrimSpace(string(out))
	w.await(t, j.id, func(s *wire.JobStatus) bool { return s.MapsDone == s.Maps-1 && s.Maps > 3 && s.ReducesRunning > 0 })
	return j
}

// words returns a text of half a MiB, in lines of ten words.
func words() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 512<<10; i++ {
		for k := range 10 {
			fmt.Fprintf(&b, "word%d ", (i*i+k*7)%3001)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// await waits until a job is as wanted.
func (w *world) await(t *testing.T, id string, wanted func(*wire.JobStatus) bool) *wire.JobStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	s, err := w.cluster.AwaitJob(ctx, id, wanted)
	if err != nil {
		t.Fatalf("%v; it is %v: %s, cause: %s", err, s.GetState(), s.GetReason(), s.GetCause())
	}
	return s
}

// finish lets the job end, and checks its output and its attempts.
func (j *bystanderJob) finish(t *testing.T, w *world) {
	t.Helper()
	must.Do(t, os.Remove(j.gate))
	s := w.await(t, j.id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
	if s.State != wire.JobState_SUCCEEDED {
		t.Fatalf("alice's job is %v: %s", s.State, s.Cause)
	}
	for _, task := range s.Tasks {
		if len(task.Attempts) != 1 {
			t.Errorf("attempts at %s of alice: %v", task.Id, task.Attempts)
		}
	}
	var lines []string
	files, err := filepath.Glob(filepath.Join(j.out, "part-r-*"))
	must.Do(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		for line := range strings.Lines(string(text)) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	if got, want := strings.Join(lines, ""), count(words()); got != want || len(files) != 2 {
		t.Errorf("alice's output in %d files has %d bytes, want %d:\n%.500s", len(files), len(got), len(want), got)
	}
	if _, err := os.Stat(filepath.Join(j.out, "_SUCCESS")); err != nil {
		t.Error(err)
	}
}

// count returns the counts of words as sorted lines.
func count(text []byte) string {
	counts := make(map[string]int)
	for _, word := range strings.Fields(string(text)) {
		counts[word]++
	}
	var lines []string
	for word, n := range counts {
		lines = append(lines, fmt.Sprintf("%s\t%d\n", word, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// segment waits for the data file of a finished map of the job, and returns it with the address
// of the tasknode that serves it.
func (j *bystanderJob) segment(t *testing.T, w *world) (file, address string) {
	t.Helper()
	_, tasknodes := w.cluster.Names()
	for _, name := range tasknodes {
		indexes, err := filepath.Glob(filepath.Join(w.daemons[name].Dir, "tasks", j.id, "*", "attempt_*", "*.index"))
		must.Do(t, err)
		if len(indexes) > 0 {
			return strings.TrimSuffix(indexes[0], ".index"), w.daemons[name].Address
		}
	}
	t.Fatal("no tasknode has a segment of alice's job")
	return "", ""
}
