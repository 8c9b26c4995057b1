//go:build deploy

package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// model is a model of masters: jobs are suspended at once, and drained tasknodes are empty at
// once, unless a field says otherwise.
type model struct {
	mu        sync.Mutex
	calls     []string
	leader    string
	jobs      map[string]*wire.JobStatus
	tasknodes map[string]*apidoc.Tasknode
	busy      bool  // attempts do not end
	refuse    error // of DrainTasknode
	onCall    func(call string)
}

func newModel() *model {
	m := &model{leader: "m1", jobs: map[string]*wire.JobStatus{
		"job_1": {JobId: "job_1"}, "job_2": {JobId: "job_2", Suspended: true},
	}, tasknodes: make(map[string]*apidoc.Tasknode)}
	for _, name := range []string{"a", "b", "c"} {
		m.tasknodes[name] = &apidoc.Tasknode{Name: name, State: "RUNNING"}
	}
	return m
}

// call records a call that changes something.
func (m *model) call(format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	if m.onCall != nil {
		m.onCall(call)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
}

func (m *model) Close() error { return nil }

func (m *model) Info(context.Context) (*wire.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := &wire.Info{Leader: m.leader}
	for _, id := range []string{"m1", "m2", "m3"} {
		info.Masters = append(info.Masters, &wire.Info_Master{Id: id, State: "follower"})
	}
	return info, nil
}

// Read implements Admin.
func (m *model) Read(ctx context.Context, path string) ([]byte, error) {
	t := docs.Table{}
	docs.Serve(t, docs.AllJobs, func(context.Context, docs.AllQuery) (docs.Answer[[]apidoc.Job], error) {
		return docs.Answer[[]apidoc.Job]{Value: apidoc.Jobs([]*wire.JobStatus{m.jobs["job_1"], m.jobs["job_2"]})}, nil
	})
	docs.Serve(t, docs.Status, func(_ context.Context, q docs.JobID) (docs.Answer[*wire.JobStatus], error) {
		return docs.Answer[*wire.JobStatus]{Value: m.jobs[q.Job]}, nil
	})
	docs.Serve(t, docs.Nodes, func(context.Context, docs.No) (a docs.Answer[[]apidoc.Tasknode], err error) {
		for _, n := range m.tasknodes {
			a.Value = append(a.Value, *n)
		}
		return a, nil
	})
	return t.Answer(ctx, path)
}

// Change implements Admin.
func (m *model) Change(_ context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	var err error
	switch q.Do {
	case "job.suspend":
		err = m.suspend(q.Id, q.Value)
	case "job.resume":
		err = m.resume(q.Id)
	case "node.admit":
		err = m.admit(q.Id)
	case "node.drain":
		err = m.drain(q.Id)
	case "master.transfer":
		err = m.transfer(q.Id)
	default:
		err = fmt.Errorf("no change %s is expected", q.Do)
	}
	return new(wire.ChangeResponse), err
}

func (m *model) suspend(id, mode string) error {
	m.call("suspend %s %s", id, mode)
	m.jobs[id].Suspended = true
	if !m.busy {
		for _, n := range m.tasknodes {
			n.Attempts = nil
		}
	}
	return nil
}

func (m *model) resume(id string) error {
	m.call("resume %s", id)
	m.jobs[id].Suspended = false
	return nil
}

func (m *model) admit(name string) error {
	m.call("admit %s %v", name, true)
	m.tasknodes[name].State = "RUNNING"
	return nil
}

func (m *model) drain(name string) error {
	m.call("drain %s", name)
	if m.refuse != nil {
		return m.refuse
	}
	m.tasknodes[name].State = "DECOMMISSIONING"
	if !m.busy {
		m.tasknodes[name].State = "DECOMMISSIONED"
	}
	return nil
}

func (m *model) transfer(id string) error {
	m.call("transfer %q", id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leader = "m2"
	return nil
}

// TestStopSuspendsJobs checks that a stop suspends the jobs, and that the next start resumes
// these and no others.
func TestStopSuspendsJobs(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	m.tasknodes["b"].Attempts = []string{"attempt_1"}
	l.must(l.with(func(c *Cluster) error { return c.Stop(t.Context(), false, time.Minute) }))
	l.want(Stopped)
	l.must(l.start())
	if want := []string{"suspend job_1 auto", "resume job_1"}; !slices.Equal(m.calls, want) {
		t.Errorf("%q, want %q", m.calls, want)
	}
	l.must(l.stop())
	l.must(l.start())
	if len(m.calls) != 2 {
		t.Errorf("the second start: %q", m.calls)
	}
}

// TestStopGivesUp checks that nothing is stopped while attempts run.
func TestStopGivesUp(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin, m.busy = m, true
	l.must(l.start())
	m.tasknodes["b"].Attempts = []string{"attempt_1"}
	err := l.with(func(c *Cluster) error { return c.Stop(t.Context(), false, 300*time.Millisecond) })
	l.wantError(err, "1 attempts still run after 300ms: attempt_1; repeat the command", "--now")
	l.want(Running)
	if got := l.read("a/suspended"); got != "job_1\n" {
		t.Errorf("the list of suspended jobs is %q", got)
	}
}

func TestStatusShowsMembers(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	m.tasknodes["c"].State = "LOST"
	var members []string
	for _, r := range l.status() {
		members = append(members, r.Name+" "+r.Member)
	}
	if want := []string{"m1 leader", "a RUNNING", "m2 follower", "b RUNNING", "m3 follower", "c LOST"}; !slices.Equal(members, want) {
		t.Errorf("%q, want %q", members, want)
	}
}

// upgrade upgrades to another program, and returns the order of calls and restarts.
func (l *lab) upgrade(m *model) (order []string, err error) {
	l.t.Helper()
	l.mu.Lock()
	l.lines = nil
	l.mu.Unlock()
	m.calls = nil
	m.onCall = func(call string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, call)
	}
	err = l.with(func(c *Cluster) error { return c.Upgrade(l.t.Context(), time.Second) })
	m.onCall = nil
	for _, line := range l.lines {
		line, _, _ = strings.Cut(line, " runs the new program")
		order = append(order, line)
	}
	return order, err
}

func (l *lab) wantProgram(file string) {
	l.t.Helper()
	prog, err := openProgram(file)
	l.must(err)
	for _, r := range l.status() {
		if r.Program != prog.hash || r.State != Running {
			l.t.Errorf("%s of %s is %s and runs %s", r.Role, r.Host, r.State, r.Program)
		}
	}
}

func TestUpgradeOrder(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	l.program = l.otherProgram()
	m.tasknodes["c"].State = "DECOMMISSIONED" // by the user, so it stays so
	order, err := l.upgrade(m)
	l.must(err)
	want := []string{
		"b: jobmaster m2", "c: jobmaster m3", `transfer ""`, "a: jobmaster m1",
		"drain a", "a: tasknode a", "admit a true", "drain b", "b: tasknode b", "admit b true", "c: tasknode c",
	}
	if !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	l.wantProgram(l.program)
	if order, err := l.upgrade(m); err != nil || len(order) > 0 {
		t.Errorf("the second upgrade: %q, %v", order, err)
	}
}

// TestUpgradeContinues checks that an upgrade continues after it has failed at a tasknode
// that is not empty in time, and after its restart was interrupted.
func TestUpgradeContinues(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	l.program = l.otherProgram()
	m.busy = true
	m.tasknodes["a"].Attempts = []string{"x"}
	_, err := l.upgrade(m)
	l.wantError(err, "a: 1 attempts, 0 outputs and 0 checkpoints are left on it after 1s; repeat the command to continue")
	m.busy, m.tasknodes["a"].Attempts = false, nil
	l.signalDaemon("b/jobmaster", "KILL") // as if the restart was interrupted
	order, err := l.upgrade(m)
	l.must(err)
	want := []string{"drain a", "a: tasknode a", "admit a true", "drain b", "b: tasknode b", "admit b true", "drain c", "c: tasknode c", "admit c true"}
	if !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	l.wantProgram(l.program)
	if _, err := os.Stat(filepath.Join(l.dir, "a", "upgrading")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mark of the upgrade: %v", err)
	}
}

// TestUpgradeAdmitsAfterInterruption checks that a tasknode is admitted whose upgrade was
// interrupted between its restart and its admission.
func TestUpgradeAdmitsAfterInterruption(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	l.write("b/upgrading", "")
	m.tasknodes["b"].State = "DECOMMISSIONED"
	order, err := l.upgrade(m) // to the same program
	l.must(err)
	if want := []string{"admit b true"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

func TestUpgradeOfTheLastTasknode(t *testing.T) {
	l, m := newLab(t), newModel()
	l.admin = m
	l.must(l.start())
	l.program = l.otherProgram()
	m.refuse = fmt.Errorf("%w: the last one", client.ErrRefused)
	m.tasknodes["a"].Attempts = []string{"x"}
	_, err := l.upgrade(m)
	l.wantError(err, "a: it runs 1 attempts and cannot be drained", "the last one; wait for the jobs or suspend them")
	m.tasknodes["a"].Attempts = nil
	_, err = l.upgrade(m)
	l.must(err)
	l.wantProgram(l.program)
}
