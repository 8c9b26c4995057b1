package suspend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// masters is a model: the attempts of a job end some questions after it was suspended.
type masters struct {
	jobs     []apidoc.Job
	attempts map[string]int // by job: questions until its attempt ends
	over     string         // a job that ends before it is suspended
	late     string         // a job that is submitted after the first question
	calls    []string
}

// Read implements Masters.
func (m *masters) Read(ctx context.Context, path string) ([]byte, error) {
	t := docs.Table{}
	docs.Serve(t, docs.AllJobs, func(context.Context, docs.AllQuery) (a docs.Answer[[]apidoc.Job], err error) {
		a.Value = slices.Clone(m.jobs)
		if m.late != "" {
			m.jobs = append(m.jobs, apidoc.Job{JobID: m.late})
			m.late = ""
		}
		return a, nil
	})
	docs.Serve(t, docs.Nodes, func(context.Context, docs.No) (docs.Answer[[]apidoc.Tasknode], error) {
		return docs.Answer[[]apidoc.Tasknode]{Value: []apidoc.Tasknode{m.tasknode()}}, nil
	})
	return t.Answer(ctx, path)
}

func (m *masters) job(id string) *apidoc.Job {
	return &m.jobs[slices.IndexFunc(m.jobs, func(j apidoc.Job) bool { return j.JobID == id })]
}

// Change implements Masters.
func (m *masters) Change(_ context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	if q.Do == "job.suspend" {
		return nil, m.suspend(q.Id, q.Value)
	}
	return nil, m.resume(q.Id)
}

func (m *masters) suspend(id, mode string) error {
	m.calls = append(m.calls, "suspend "+id+" "+mode)
	if id == m.over {
		m.jobs = slices.DeleteFunc(m.jobs, func(j apidoc.Job) bool { return j.JobID == id })
		return fmt.Errorf("it is over: %w", client.ErrRefused)
	}
	m.job(id).Suspended = true
	return nil
}

func (m *masters) resume(id string) error {
	m.calls = append(m.calls, "resume "+id)
	if id == m.over {
		return client.ErrUnknown
	}
	return nil
}

func (m *masters) tasknode() (n apidoc.Tasknode) {
	for _, j := range m.jobs {
		if m.attempts[j.JobID] > 0 {
			n.Attempts = append(n.Attempts, "attempt of "+j.JobID)
			if j.Suspended {
				m.attempts[j.JobID]--
			}
		}
	}
	return n
}

func TestAllSuspendsAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &masters{
			jobs:     []apidoc.Job{{JobID: "j1"}, {JobID: "j2", Suspended: true}, {JobID: "j3"}},
			attempts: map[string]int{"j1": 3, "j4": 2}, over: "j3", late: "j4",
		}
		var noted, done []string
		err := All(t.Context(), m, time.Minute,
			func(ids []string) error { noted = append(noted, ids...); return nil }, func(id string) { done = append(done, id) })
		must.Do(t, err)
		if want := []string{"j1", "j3", "j4"}; !slices.Equal(noted, want) {
			t.Errorf("noted before: %v, want %v", noted, want)
		}
		if want := []string{"j1", "j4"}; !slices.Equal(done, want) {
			t.Errorf("suspended: %v, want %v", done, want)
		}
		if want := []string{"suspend j1 auto", "suspend j3 auto", "suspend j4 auto"}; !slices.Equal(m.calls, want) {
			t.Errorf("calls: %v, want %v", m.calls, want)
		}
		done = nil
		must.Do(t, Resume(t.Context(), m, noted, func(id string) { done = append(done, id) }))
		if want := []string{"j1", "j4"}; !slices.Equal(done, want) {
			t.Errorf("resumed: %v, want %v", done, want)
		}
	})
}

func TestAllAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &masters{jobs: []apidoc.Job{{JobID: "j1"}}, attempts: map[string]int{"j1": 1_000_000}}
		err := All(t.Context(), m, time.Minute, func([]string) error { return nil }, func(string) {})
		var late *LateError
		if !errors.As(err, &late) || !strings.Contains(err.Error(), "1 attempts still run after 1m0s: attempt of j1") {
			t.Fatalf("error %v", err)
		}
	})
}

func TestJobsAreRecordedBeforeTheyAreSuspended(t *testing.T) {
	m := &masters{jobs: []apidoc.Job{{JobID: "j1"}}}
	full := errors.New("the disk is full")
	err := All(t.Context(), m, time.Minute, func([]string) error { return full }, func(string) {})
	if !errors.Is(err, full) || len(m.calls) > 0 {
		t.Errorf("error %v, calls %v", err, m.calls)
	}
}
