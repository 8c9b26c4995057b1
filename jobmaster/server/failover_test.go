package server_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestAnyMasterLeadsToTheLeader(t *testing.T) {
	r := newRig(t, 3)
	r.log.lead(r.log.members[2])
	r.node("n1", &launcher{}, r.masters[1].address)
	c := r.client(r.masters[0].address)
	succeeds(t, c, submit(t, c, 2, 1))
}

func TestJobContinuesUnderTheNextLeader(t *testing.T) {
	r := newRig(t, 2)
	release := make(chan struct{})
	l := &launcher{release: release, started: make(chan string, 10)}
	r.node("n1", l)
	c := r.client()
	id := submit(t, c, 2, 1)
	<-l.started
	<-l.started

	changed := false
	var states []wire.JobState
	status, err := c.Watch(t.Context(), id, func(s *wire.JobStatus) {
		states = append(states, s.State)
		if s.MapsRunning == 2 && !changed {
			changed = true
			r.log.lead(r.log.members[1])
			close(release)
		}
	})
	if err != nil || status.State != wire.JobState_SUCCEEDED || !changed {
		t.Fatalf("job ended as %v, %v", status, err)
	}
	for i, s := range states[1:] {
		if s < states[i] {
			t.Errorf("after %v came %v", states[i], s)
		}
	}
	if states[len(states)-2] == wire.JobState_SUCCEEDED {
		t.Error("the end is reported twice")
	}
	if n := len(l.started); n != 0 {
		t.Errorf("%d maps ran again", n)
	}
}

func TestRepeatedSubmissionIsOneJob(t *testing.T) {
	r := newRig(t, 1)
	p := newProxy(t, r.masters[0])
	c := r.client()
	spec, splits := job(1, 0)
	spec.Name = "unmistakable"
	spec.ClientId, spec.Sequence = "me", 7
	p.loseAnswerTo("unmistakable")
	id, err := c.Submit(t.Context(), spec, splits)
	must.Do(t, err)
	if p.cuts() != 1 {
		t.Errorf("%d answers were lost", p.cuts())
	}
	again, err := c.Submit(t.Context(), spec, splits)
	if err != nil || again != id {
		t.Errorf("submitted again it is %s, %v", again, err)
	}
	elsewhere, err := r.client().Submit(t.Context(), spec, splits)
	if err != nil || elsewhere != id {
		t.Errorf("submitted by another process it is %s, %v", elsewhere, err)
	}
	jobs, err := docs.AllJobs.From(t.Context(), c, docs.AllQuery{Finished: docs.Yes})
	if err != nil || len(jobs) != 1 {
		t.Errorf("there are %d jobs, %v", len(jobs), err)
	}
}

func TestSubmissionThatTheLogLosesIsOneJob(t *testing.T) {
	r := newRig(t, 2)
	lost := make(chan struct{}, 1)
	r.log.lose(lost)
	var changing sync.WaitGroup
	changing.Go(func() {
		<-lost
		r.log.lose(nil)
		r.log.lead(r.log.members[1])
	})
	defer changing.Wait()
	c := r.client()
	spec, splits := job(1, 0)
	if _, err := c.Submit(t.Context(), spec, splits); err != nil {
		t.Fatal(err)
	}
	jobs, err := docs.AllJobs.From(t.Context(), c, docs.AllQuery{Finished: docs.Yes})
	if err != nil || len(jobs) != 1 {
		t.Errorf("there are %d jobs, %v", len(jobs), err)
	}
}

func TestCutConnections(t *testing.T) {
	r := newRig(t, 1)
	p := newProxy(t, r.masters[0])
	release := make(chan struct{})
	l := &launcher{release: release, started: make(chan string, 100)}
	r.node("n1", l)
	c := r.client()
	id := submit(t, c, 4, 1)
	<-l.started
	<-l.started
	cuts := 0
	status, err := c.Watch(t.Context(), id, func(s *wire.JobStatus) {
		if cuts < 5 {
			cuts++
			p.cut()
		}
		if s.MapsRunning == 2 && cuts > 0 && release != nil {
			close(release)
			release = nil
		}
	})
	if err != nil || status.State != wire.JobState_SUCCEEDED || status.MapsDone != 4 {
		t.Errorf("job ended as %v, %v", status, err)
	}
	if len(status.GetFailures()) != 0 || len(l.started) != 2 {
		t.Errorf("failures %v, %d more attempts", status.GetFailures(), len(l.started))
	}
}

// TestSuspendedLeaderIsWaitedForOnce stalls the leader's connections while a client watches
// a job. It checks that the client continues with the next leader and does not ask the
// stalled leader again first.
func TestSuspendedLeaderIsWaitedForOnce(t *testing.T) {
	r := newRig(t, 2)
	p := newProxy(t, r.masters[0])
	release := make(chan struct{})
	l := &launcher{release: release, started: make(chan string, 10)}
	r.node("n1", l, r.masters[0].address, r.masters[1].address)
	cfg := calls(r.masters[0].address, r.masters[1].address)
	var still atomic.Bool
	var again atomic.Int32
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == p.address() && still.Load() {
			again.Add(1)
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	c := r.clientWith(cfg)
	id := submit(t, c, 2, 1)
	status, err := c.Watch(t.Context(), id, func(s *wire.JobStatus) {
		if s.MapsRunning == 2 && !still.Load() {
			p.stall()
			still.Store(true)
			r.log.lead(r.log.members[1])
			close(release)
		}
	})
	if err != nil || status.State != wire.JobState_SUCCEEDED || !still.Load() {
		t.Fatalf("job ended as %v, %v", status, err)
	}
	if n := again.Load(); n != 0 {
		t.Errorf("the leader that stands still was tried %d times more", n)
	}
}

func TestMissingLeaderIsReportedOnce(t *testing.T) {
	r := newRig(t, 2)
	r.log.lead(nil)
	cfg := calls(r.masters[0].address, r.masters[1].address)
	cfg.Timeout = 1500 * time.Millisecond
	var notices []string
	cfg.OnWait = func(err error) { notices = append(notices, err.Error()) }
	_, err := docs.AllJobs.From(t.Context(), r.clientWith(cfg), docs.AllQuery{Finished: docs.Yes})
	var none *rpc.UnavailableError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), r.masters[1].address+": not the leader, and none is known") {
		t.Errorf("error is %v", err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "waiting up to 1.5s") {
		t.Errorf("notices are %q", notices)
	}
}

func TestSilentPeerIsNoticed(t *testing.T) {
	r := newRig(t, 1)
	l := listen(t)
	var silentPeers sync.WaitGroup
	silentPeers.Go(func() { // accepts a connection and never answers
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	})
	defer silentPeers.Wait()
	defer l.Close()
	c := r.client(l.Addr().String(), r.masters[0].address)
	if _, err := docs.AllJobs.From(t.Context(), c, docs.AllQuery{Finished: docs.Yes}); err != nil { // it fails after callTimeout if the silent peer is not noticed
		t.Fatal(err)
	}
}

func TestDeadMasterIsSkipped(t *testing.T) {
	r := newRig(t, 1)
	l := listen(t)
	dead := l.Addr().String()
	l.Close()
	c := r.client(dead, r.masters[0].address)
	if _, err := docs.AllJobs.From(t.Context(), c, docs.AllQuery{Finished: docs.Yes}); err != nil {
		t.Error(err)
	}
}

// hangingUp accepts connections, writes words to them and closes them.
func hangingUp(t *testing.T, words string) string {
	l := listen(t)
	var silentPeers sync.WaitGroup
	silentPeers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			silentPeers.Go(func() { sayAndLeave(c, words) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		silentPeers.Wait()
	})
	return l.Addr().String()
}

func sayAndLeave(c net.Conn, words string) {
	defer c.Close()
	_, _ = c.Read(make([]byte, 4096)) // otherwise a reset could lose the words
	_, _ = c.Write([]byte(words))
}
