package hammrtest

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/mr"
)

// Job is a submitted job.
// Its methods are for the goroutine of the test.
type Job struct {
	c       *C
	program mr.Runnable
	args    []string // arguments of Submit
	id      string
	status  *wire.JobStatus // latest status; nil before the first
}

// Submit submits a job or program of this binary with its command line. It returns when the
// cluster has accepted the job. The last argument is the output directory. The program must
// have one job. To run a program with several jobs, start the hammr command with Environ.
func (c *C) Submit(program mr.Runnable, args ...string) *Job {
	c.t.Helper()
	j := &Job{c: c, program: program, args: args}
	environ := c.Environ()
	master, token := strings.SplitN(environ[0], "=", 2)[1], strings.SplitN(environ[1], "=", 2)[1]
	line := append([]string{"--quiet", "--detach", "--master", master, "--token-file", token}, args...)
	var stdout, stderr bytes.Buffer
	if code := mr.Run(c.t.Context(), program, line, &stdout, &stderr); code != mr.ExitDone {
		c.t.Fatalf("submission of %q: exit code %d\n%s", args, code, stderr.String())
	}
	j.id = strings.TrimSpace(stdout.String())
	return j
}

// ID returns the job's ID.
func (j *Job) ID() string { return j.id }

// AwaitMaps waits until this percentage of the maps' work is done. The test fails if the job
// fails.
func (j *Job) AwaitMaps(percent float64) {
	j.c.t.Helper()
	j.await("maps", func(s *wire.JobStatus) bool { return s.MapProgress*100 >= percent && s.MapsRunning+s.MapsDone > 0 })
}

// AwaitReduces waits until this percentage of the reduces' work is done. At 0 it waits until
// a reduce runs.
func (j *Job) AwaitReduces(percent float64) {
	j.c.t.Helper()
	j.await("reduces", func(s *wire.JobStatus) bool {
		return s.ReduceProgress*100 >= percent && s.ReducesRunning+s.ReducesDone > 0
	})
}

// Succeeds waits until the job succeeds. The test fails if the job does not.
func (j *Job) Succeeds() {
	j.c.t.Helper()
	j.await("success", func(s *wire.JobStatus) bool { return s.State == wire.JobState_SUCCEEDED })
}

// await waits until a condition holds for the status. The test fails if the job ends otherwise.
// A job that has succeeded meets every condition.
func (j *Job) await(what string, so func(*wire.JobStatus) bool) {
	j.c.t.Helper()
	j.c.await(what+" of "+j.id, func(ctx context.Context) bool {
		status, err := docs.Status.From(ctx, j.c.rig.Client(), docs.JobID{Job: j.id})
		if err != nil {
			return false // no master answers
		}
		j.status = status
		switch status.State {
		case wire.JobState_FAILED, wire.JobState_KILLED:
			j.c.t.Fatalf("%s is %v: %s", j.id, j.status.State, j.status.Cause)
		case wire.JobState_SUCCEEDED:
			return true // the job is complete, so every condition has been met
		}
		return so(j.status)
	})
}

// Again returns how many attempts tasks have made beyond their first, as of the latest
// status.
func (j *Job) Again() int { return testcluster.ExtraAttempts(j.status) }

// SameAsUndisturbed runs the same command line in this process as an undisturbed run, with
// another output directory. It compares the output files of both runs byte by byte.
func (j *Job) SameAsUndisturbed() {
	j.c.t.Helper()
	out := j.args[len(j.args)-1]
	want := filepath.Join(j.c.t.TempDir(), "want")
	line := append([]string{"--quiet", "--master", "local"}, j.args[:len(j.args)-1]...)
	var stderr bytes.Buffer
	line = append([]string{"-D", "hammr.debug.record.sleep=0"}, append(withoutSleep(line), want)...)
	if code := mr.Run(j.c.t.Context(), j.program, line, &stderr, &stderr); code != mr.ExitDone {
		j.c.t.Fatalf("undisturbed run: exit code %d\n%s", code, stderr.String())
	}
	written, err := testcluster.ReadOutput(out)
	j.c.noError("output", err)
	expected, err := testcluster.ReadOutput(want)
	j.c.noError("undisturbed run", err)
	if _, wrong := written.Compare(expected); len(wrong) > 0 {
		j.c.t.Errorf("%s: %s", out, strings.Join(wrong, "; "))
	}
}

// withoutSleep removes the property that delays each record without changing the output.
func withoutSleep(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "-D" && i+1 < len(args) && strings.HasPrefix(args[i+1], "hammr.debug.record.sleep=") {
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}
