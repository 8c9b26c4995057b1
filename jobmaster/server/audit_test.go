package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/docs"
)

// lines is the text of a log that several goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// audited returns the lines of the audit log so far and empties the log.
func (l *lines) audited() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if _, audit, ok := strings.Cut(line, "msg=audit "); ok {
			out = append(out, strings.TrimSpace(audit))
		}
	}
	l.text.Reset()
	return out
}

// TestChangesAreAudited makes calls that change something, and calls that do not. Each change
// is one line, whether it is refused or not.
func TestChangesAreAudited(t *testing.T) {
	var log lines
	r := newLoggedRig(t, 2, slog.New(slog.NewTextHandler(&log, nil)))
	as := func(user string) *remote.Client {
		cfg := calls(r.masters[0].address)
		cfg.User = user
		return r.clientWith(cfg)
	}
	ada, eve := as("ada"), as("eve\nmsg=audit who=ada")
	id := submit(t, ada, 1, 1)
	for _, step := range []struct {
		what string
		call func() error
		want string // line without from; "" for none
	}{
		{"a submission", nil, `who=ada call=Submit object=` + id + ` detail="\"test\" of user \"me\"" result=done`},
		{"queries", func() error {
			_, err := docs.AllJobs.From(t.Context(), ada, docs.AllQuery{Finished: docs.Yes})
			return err
		}, ""},
		{"a status", func() error { _, err := docs.Progress.From(t.Context(), ada, docs.JobID{Job: id}); return err }, ""},
		{"a status with properties", func() error { _, err := docs.Status.From(t.Context(), ada, docs.JobID{Job: id}); return err }, `who=ada call=GetJob object=` + id + ` result=done`},
		{"a backup", func() error { return ada.Backup(t.Context(), io.Discard) }, `who=ada call=Backup object=state result=done`},
		{"a move", func() error { return client.Change(t.Context(), ada, "job.move", id, "nowhere") }, `who=ada call=MoveJob object=` + id + ` detail="move nowhere" result=refused error=`},
		{"an unknown job", func() error { return client.Change(t.Context(), ada, "job.priority", "job_1_2\x1b[2J", "VERY_HIGH") }, `who=ada call=SetPriority object=job_1_2?[2J detail="priority VERY_HIGH" result=refused error=`},
		{"an exclusion", func() error { return client.Change(t.Context(), ada, "node.exclude", "n1", "") }, `who=ada call=AdmitNode object=n1 detail=exclude result=refused error=`},
		{"a kill", func() error { return eve.Kill(t.Context(), id, "not mine") }, `who="eve?msg=audit who=ada" call=Kill object=` + id + ` detail="not mine" result=done`},
	} {
		if step.call != nil {
			_ = step.call() // the line shows the error
		}
		got := log.audited()
		if step.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: logged %q", step.what, got)
			}
			continue
		}
		if len(got) != 1 || !strings.HasPrefix(withoutPort(got[0]), step.want) {
			t.Errorf("%s: logged %q, want %q", step.what, got, step.want)
		}
	}
	for range 20 {
		cfg := calls(r.masters[0].address)
		cfg.Token = "guess"
		if err := r.clientWith(cfg).Kill(t.Context(), id, ""); err == nil {
			t.Error("a caller without the token kills a job")
		}
	}
	got := log.audited()
	if len(got) == 0 || len(got) > 5 || !strings.Contains(got[0], "call=Kill") || !strings.Contains(got[0], "result=refused error=") {
		t.Errorf("20 calls without the token: logged %q", got)
	}
	follower := calls(r.masters[1].address)
	if err := r.clientWith(follower).Kill(t.Context(), id, ""); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(log.audited()); !strings.Contains(got, "result=unknown") || !strings.Contains(got, "result=done") {
		t.Errorf("by way of a follower: logged %s", got)
	}
}

// withoutPort removes the address of the caller from a line, if it has one.
func withoutPort(line string) string {
	return regexp.MustCompile(`from=127\.0\.0\.1:\d+ `).ReplaceAllString(line, "")
}
