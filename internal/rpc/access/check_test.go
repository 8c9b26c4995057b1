package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// checked sends a request and calls use with its context.
func (r *rig) checked(use func(context.Context), edits ...edit) {
	r.t.Helper()
	inner := r.handler
	defer func() { r.handler = inner }()
	r.handler = r.gate.Handler(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { use(q.Context()) }))
	r.want("request", r.send("POST", "/", "", edits...), 200)
}

// auditLines returns the records as a log shows them.
func auditLines(records []Record) (lines []string) {
	for _, record := range records {
		var log bytes.Buffer
		record.Log(slog.New(slog.NewTextHandler(&log, nil)))
		_, line, _ := strings.Cut(strings.TrimSpace(log.String()), "msg=audit ")
		lines = append(lines, line)
	}
	return lines
}

// TestDoAudits checks that Do writes a record only if no call can have one.
func TestDoAudits(t *testing.T) {
	job := Object{"job", "job_1_7"}
	kill := Action{Verb: ChangeJob, Object: job, Call: "Kill", Detail: "wrong input\x1b[2J"}
	cause := errors.New("the job has finished")
	for _, c := range []struct {
		what   string
		edits  []edit
		action Action
		err    error // of the change
		runs   bool
		status int
		want   string
	}{
		{"done", []edit{basic("ada", testToken)}, kill, nil, true, 200, ""},
		{"fails", []edit{basic("ada", testToken)}, kill, cause, true, 500, ""},
		{"lost", []edit{basic("ada", testToken)}, kill, context.DeadlineExceeded, true, 500, `who=ada from=10.9.9.9:4711 call=Kill object=job_1_7 detail="wrong input?[2J" result=unknown error="context deadline exceeded"`},
		{"stranger", nil, kill, nil, false, 401, `who=anonymous from=10.9.9.9:4711 call=Kill object=job_1_7 detail="wrong input?[2J" result=refused error="to change job job_1_7 needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"`},
		{"of all", []edit{bearer(testToken)}, Action{Verb: Operate, Object: Object{Kind: "policy"}, Call: "SetPolicy", Detail: "fair"}, nil, true, 200, ""},
	} {
		r := newRig(t, func(cfg *Config) { cfg.AnonymousReaders = true })
		r.checked(func(ctx context.Context) {
			ran := false
			err := r.gate.Do(ctx, c.action, func() error { ran = true; return c.err })
			if ran != c.runs || statusOf(err) != c.status || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%s: ran %v, error %v", c.what, ran, err)
			}
		}, c.edits...)
		if got := strings.Join(auditLines(r.audited()), "\n"); got != c.want {
			t.Errorf("%s: audit\n%q, want\n%q", c.what, got, c.want)
		}
	}
}

// TestCheckAuditsChanges checks that changes, and reads of what tasks print, are audited.
func TestCheckAuditsChanges(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.AnonymousReaders = true })
	job := Object{"job", "job_1_7"}
	r.checked(func(ctx context.Context) {
		for _, v := range knownVerbs() {
			if err := r.gate.Check(ctx, v, job); err != nil {
				t.Errorf("%s: %v", v, err)
			}
		}
	}, basic("ada", testToken))
	var lines []string
	for _, v := range []Verb{ChangeJob, ReadLog, Operate, Profile} {
		lines = append(lines, fmt.Sprintf("who=ada from=10.9.9.9:4711 call=%s object=job_1_7 result=allowed", v))
	}
	want := strings.Join(lines, "\n")
	if got := strings.Join(auditLines(r.audited()), "\n"); got != want {
		t.Errorf("audit of the holder:\n%s\nwant\n%s", got, want)
	}
	r.checked(func(ctx context.Context) {
		for v, want := range map[Verb]int{View: 200, ReadLog: 401, ChangeJob: 401, Profile: 401, "fly": 403} {
			if got := statusOf(r.gate.Check(ctx, v, job)); got != want {
				t.Errorf("%s by a reader: status %d, want %d", v, got, want)
			}
		}
	})
	if got := auditLines(r.audited()); len(got) != 1 || !regexp.MustCompile(`^who=anonymous .* result=refused error=`).MatchString(got[0]) {
		t.Errorf("audit of a reader: %q", got)
	}
}

// TestStrangersCannotFillTheAuditLog: refused changes of strangers are throttled, and counted.
func TestStrangersCannotFillTheAuditLog(t *testing.T) {
	r := newRig(t, nil)
	r.checked(func(ctx context.Context) {
		for range 1000 {
			_ = r.gate.Check(ctx, ChangeJob, Object{"job", "j"}) // refused
		}
	})
	if n := len(r.audited()); n == 0 || n > 100 {
		t.Errorf("1000 refusals are %d records", n)
	}
}

// TestContextWithoutGate: a handler that the gate does not guard can do nothing by mistake.
func TestContextWithoutGate(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.AnonymousReaders = true })
	for _, v := range knownVerbs() {
		if got := statusOf(r.gate.Check(t.Context(), v, Object{"job", "j"})); got != 401 {
			t.Errorf("%s: status %d, want 401", v, got)
		}
	}
}
