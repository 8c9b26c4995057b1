package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// fakeLogs is the REST API of masters that have logs, by ATTEMPT/STREAM. They send three bytes at most.
type fakeLogs struct {
	docs.Source
	texts  map[string]string
	faults map[string]error
}

func (f fakeLogs) Close() error { return nil }

func (f fakeLogs) Log(_ context.Context, attempt, stream string, r docs.LogRange) (docs.LogPart, error) {
	text, has := f.texts[attempt+"/"+stream]
	if err := f.faults[attempt+"/"+stream]; err != nil {
		return docs.LogPart{}, err
	}
	if !has {
		return docs.LogPart{}, docs.ErrUnknown
	}
	size := int64(len(text))
	return docs.LogPart{Text: []byte(text[r.From:min(size, r.From+3)]), Offset: r.From, Size: size}, nil
}

// logAttempt returns the id of the attempt of a map.
func logAttempt(n int) string { return fmt.Sprintf("attempt_1763700000000_0009_m_%06d_0", n) }

// TestLogsOfAJobThatIsOver reads the logs of attempts that have printed something, nothing, or whose
// tasknode does not answer.
func TestLogsOfAJobThatIsOver(t *testing.T) {
	job := &wire.JobStatus{JobId: "job_1763700000000_0009", State: wire.JobState_SUCCEEDED}
	for i, machine := range []string{"n1", "n2", "n3"} {
		job.Tasks = append(job.Tasks, &wire.TaskStatus{Id: fmt.Sprintf("task_1763700000000_0009_m_%06d", i), Attempts: []*wire.TaskStatus_Attempt{
			{Id: logAttempt(i), Machine: machine, State: wire.AttemptState_ATTEMPT_SUCCEEDED},
		}})
	}
	logs := fakeLogs{texts: map[string]string{logAttempt(2) + "/stdout": "of n3\n"}, faults: make(map[string]error)}
	r := clusterCommands{
		connect: func(f clusterFlags, _ func(error)) (clusterClient, error) {
			return &fakeCluster{address: f.masters, jobs: []*wire.JobStatus{job}}, nil
		},
		openSource: func(clusterFlags) (masterSource, error) { return logs, nil },
	}
	check := func(what string, code int, stderr string) {
		t.Helper()
		want := fmt.Sprintf("==> %s stdout on n3 <==\nof n3\n", logAttempt(2))
		if got, stdout, text := runCommands(t, r, "job", "logs", job.JobId); got != code || stdout != want || text != stderr {
			t.Errorf("%s: exit %d\n%s%s", what, got, stdout, text)
		}
	}
	check("silent tasknodes", 0, "")
	logs.faults[logAttempt(0)+"/stderr"] = docs.Classify(docs.ErrUnavailable, errors.New("no route"))
	check("a tasknode that does not answer", 0, "warning: tasknode n1 may still have stderr of "+logAttempt(0)+": no route\n")
	logs.faults[logAttempt(0)+"/stderr"] = errors.New("n1.logs: corrupt")
	check("a damaged file", 1, "hammr: stderr of "+logAttempt(0)+": n1.logs: corrupt\n")
}
