package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// logAttempt returns the id of the attempt of a map.
func logAttempt(n int) string { return fmt.Sprintf("attempt_1763700000000_0009_m_%06d_0", n) }

// finishedJob returns a job that is over, with a map on each machine.
func finishedJob(dir string, machines ...string) *wire.JobStatus {
	j := &wire.JobStatus{JobId: "job_1763700000000_0009", State: wire.JobState_SUCCEEDED, LogDir: "file://" + dir}
	for i, m := range machines {
		j.Tasks = append(j.Tasks, &wire.TaskStatus{Id: fmt.Sprintf("task_1763700000000_0009_m_%06d", i), Attempts: []*wire.TaskStatus_Attempt{
			{Id: logAttempt(i), Machine: m, State: wire.AttemptState_ATTEMPT_SUCCEEDED},
		}})
	}
	return j
}

// putLogs writes the file of a machine with the stdout of one attempt.
func putLogs(t *testing.T, dir, machine, attempt, text string) {
	t.Helper()
	putLog(t, dir, machine, attempt, "stdout", text)
}

// putLog writes the file of a machine with one log.
func putLog(t *testing.T, dir, machine, attempt, stream, text string) {
	t.Helper()
	var b bytes.Buffer
	w := joblog.NewWriter(&b)
	err := errors.Join(os.MkdirAll(dir, 0o755), w.Add(attempt, stream, strings.NewReader(text)), w.Close())
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, joblog.FileName(machine)), b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestLogsOfAJobThatIsOver reads logs from all places that may have them: the files of
// machines, and tasknodes that have not copied theirs.
func TestLogsOfAJobThatIsOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "2025-11-21", "job_1763700000000_0009")
	// Machine n1 prints nothing, n2 is lost, n3 has two attempts, n4 has forgotten its page.
	job := finishedJob(dir, "n1", "n2", "n3", "n1", "n2", "n4", "n3")
	putLogs(t, dir, "n3", logAttempt(2), "of the file\n")
	putLogs(t, dir, "n2", logAttempt(4), "of a lost machine\n")
	requests := 0
	r := clusterCommands{
		connect: func(f clusterFlags, _ func(error)) (clusterClient, error) {
			return &fakeCluster{address: f.masters, jobs: []*wire.JobStatus{job}}, nil
		},
		openFiles: func(io.Writer) (*storage.Router, error) { return openFiles(io.Discard) },
		fetchLog: func(_ context.Context, _ clusterFlags, _, attempt, stream string) (string, error) {
			requests++
			return attempt + "/" + stream + " so far", nil
		},
		listLogs: func(_ context.Context, _ clusterFlags, page, id string) ([]string, error) {
			requests++
			return nil, fs.ErrNotExist
		},
	}
	show := func(stream string, attempt int, machine, text string) string {
		return fmt.Sprintf("==> %s %s on %s <==\n%s\n", logAttempt(attempt), stream, machine, text)
	}
	kept := show("stdout", 2, "n3", "of the file") + show("stdout", 4, "n2", "of a lost machine")
	check := func(what, want, warning string, most int) {
		t.Helper()
		requests = 0
		code, stdout, stderr := runCommands(t, r, "job", "logs", job.JobId)
		if code != 0 || stdout != want || !strings.Contains(stderr, warning) || warning == "" && stderr != "" || requests > most {
			t.Errorf("%s: exit %d after %d requests to tasknodes\n%s%s", what, code, requests, stdout, stderr)
		}
	}
	check("silent tasknodes", kept, "", 1)

	r.listLogs = func(context.Context, clusterFlags, string, string) ([]string, error) {
		return nil, errors.New("no route")
	}
	check("a tasknode that does not answer", kept, "warning: tasknode n1 may still have logs of the job: no route", 0)

	r.listLogs = func(context.Context, clusterFlags, string, string) ([]string, error) {
		return []string{logAttempt(0) + "/stdout"}, nil
	}
	check("a tasknode that has logs", show("stdout", 0, "n1", logAttempt(0)+"/stdout so far")+kept, "", 1)

	r.fetchLog = func(context.Context, clusterFlags, string, string, string) (string, error) {
		putLogs(t, dir, "n1", logAttempt(0), "copied meanwhile\n")
		return "", fs.ErrNotExist
	}
	check("logs that are copied meanwhile", show("stdout", 0, "n1", "copied meanwhile")+kept, "", 0)

	if err := os.WriteFile(filepath.Join(dir, "n3.logs"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runCommands(t, r, "job", "logs", job.JobId)
	if code != 1 || !strings.Contains(stdout, "of a lost machine") || !strings.Contains(stderr, "n3.logs") || !strings.Contains(stderr, "corrupt") {
		t.Errorf("damaged file: exit %d\n%s%s", code, stdout, stderr)
	}
}
