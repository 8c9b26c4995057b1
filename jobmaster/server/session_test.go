package server_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/masterlink"
)

// attendance attaches a tasknode whose reports the test sends.
func (r *rig) attendance(name string) tasknode.Session {
	r.t.Helper()
	masters, err := rpc.New(calls(r.masters[0].address))
	must.Do(r.t, err)
	joined := &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: name, MapSlots: 2, Clock: time.Now().UnixMilli()}
	s, err := masterlink.NewLink(masters).Connect(r.ctx, &wire.Report{Machine: name, Report: &wire.Report_Joined_{Joined: joined}})
	must.Do(r.t, err)
	r.t.Cleanup(func() {
		s.Close()
		masters.Close()
	})
	return s
}

func TestOrdersAndReports(t *testing.T) {
	r := newRig(t, 1)
	s := r.attendance("n1")
	c := r.client()
	id := submit(t, c, 2, 0)
	for done := 0; done < 2; {
		orders, err := s.Receive(t.Context())
		must.Do(t, err)
		for _, o := range orders {
			if start := o.GetStart().GetStart(); start != nil {
				done++
				s.Send(&wire.Report{Machine: "n1", AttemptId: start.AttemptId, Report: &wire.Report_Finished{Finished: &taskproc.Finished{Range: start.Range}}})
			}
		}
	}
	succeeds(t, c, id)
}

// TestSessionNoticesALostMaster keeps the connection open but forwards nothing, as after
// a cable was pulled.
func TestSessionNoticesALostMaster(t *testing.T) {
	r := newRig(t, 1)
	p := newProxy(t, r.masters[0])
	s := r.attendance("n1")
	p.stall()
	began := time.Now()
	orders, err := s.Receive(t.Context())
	for err == nil {
		orders, err = s.Receive(t.Context())
	}
	if took := time.Since(began); took > callTimeout/2 {
		t.Errorf("noticed after %v (%v, %v)", took, orders, err)
	}
}

// TestSlowTasknodeBlocksNoOther attaches a tasknode that reads no orders, and sends it more
// orders than the connection buffers.
func TestSlowTasknodeBlocksNoOther(t *testing.T) {
	r := newRig(t, 1)
	r.attendance("slow")
	c := r.client()
	spec, splits := job(2, 0)
	spec.Config = bytes.Repeat([]byte("x"), 7<<20)
	id, err := c.Submit(t.Context(), spec, splits)
	must.Do(t, err)
	for running := int32(0); running < 2; {
		status, err := docs.Status.From(t.Context(), c, docs.JobID{Job: id})
		must.Do(t, err)
		running = status.MapsRunning
	}
	r.node("quick", &launcher{})
	succeeds(t, c, submit(t, c, 3, 1))
}

func TestSessionEndsWithItsMaster(t *testing.T) {
	r := newRig(t, 2)
	s := r.attendance("n1")
	r.log.lead(r.log.members[1])
	_, err := s.Receive(t.Context())
	for err == nil {
		_, err = s.Receive(t.Context())
	}
	want := r.masters[0].address + ": not the leader"
	if got := err.Error(); len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	s.Close()
	s.Send(new(wire.Report)) // is dropped without harm
}
