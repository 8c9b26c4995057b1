package jobmaster_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/tasknode"
)

// TestTasknodeExpiresBySilenceNotByBrokenConnection breaks a tasknode's connection. It
// checks that the tasknode is probed at once, and that it expires TasknodeExpiry after its
// last report or answered probe.
func TestTasknodeExpiresBySilenceNotByBrokenConnection(t *testing.T) {
	for name, c := range map[string]struct {
		answers error
		takes   time.Duration // of the probe
		verdict time.Duration // when it expires, after the connection broke
	}{
		"gone":           {errors.New("no route to host"), 0, 10 * time.Second},
		"answers":        {nil, 0, 10 * time.Second},
		"answers slowly": {nil, 3 * time.Second, 13 * time.Second},
		"hangs":          {context.DeadlineExceeded, time.Hour, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, 0, func(w *testCluster) {
				asked := make(chan time.Time, 10)
				w.configure = func(cfg *jobmaster.Config) {
					cfg.Probe = func(ctx context.Context, page, address string) error {
						if asked <- time.Now(); page != "a:80" || address != "a:81" {
							w.t.Errorf("%q and %q are asked", page, address)
						}
						select {
						case <-time.After(c.takes):
							return c.answers
						case <-ctx.Done():
							return ctx.Err()
						}
					}
				}
				w.addMaster()
				w.elect(0)
				crash := w.addTasknodeOf(tasknode.Config{Name: "a", HTTP: "a:80", Address: "a:81", MapSlots: 1, ReduceSlots: 1, Dirs: []string{t.TempDir()}})
				w.sleep(5 * time.Second) // a heartbeat is just due
				broken := time.Now()
				crash()
				if at := <-asked; at != broken {
					t.Errorf("it is asked %v later", at.Sub(broken))
				}
				state := func() string {
					nodes, err := w.leader().Tasknodes(w.ctx)
					if err != nil || len(nodes) != 1 {
						t.Fatalf("nodes are %v, %v", nodes, err)
					}
					return nodes[0].State
				}
				w.sleep(c.verdict - 1500*time.Millisecond) // its last heartbeat may be a second old
				if got := state(); got != "SILENT" {
					t.Errorf("before the expiry is over it is %s", got)
				}
				w.sleep(1501 * time.Millisecond)
				if got := state(); got != "LOST" {
					t.Errorf("when the expiry is over it is %s", got)
				}
			})
		})
	}
}

// TestDeadTasknodeIsLostAtOnce crashes a tasknode on a machine that refuses connections. The
// tasknode is lost as soon as a second probe is refused too. It is not lost if it answers
// the second probe, or attaches again before it.
func TestDeadTasknodeIsLostAtOnce(t *testing.T) {
	dead := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	for name, c := range map[string]struct {
		answers []error
		again   bool // the same tasknode attaches again
		want    string
		later   string // after the third probe; "" for any
	}{
		"dead":          {[]error{dead, dead}, false, "a LOST ", ""},
		"starts again":  {[]error{dead, nil}, false, "a SILENT ", ""},
		"cut off later": {[]error{dead, errors.New("timeout")}, false, "a SILENT ", ""},
		"attaches":      {[]error{dead, dead}, true, "a RUNNING ", ""},
		"still ends":    {[]error{errors.New("connection reset"), dead}, false, "a SILENT ", "a LOST "},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, 0, func(w *testCluster) {
				var probes atomic.Int32
				w.configure = func(cfg *jobmaster.Config) {
					cfg.Probe = func(context.Context, string, string) error {
						return c.answers[min(int(probes.Add(1)), len(c.answers))-1]
					}
				}
				w.addMaster()
				w.elect(0)
				a := w.addFake("a", "a:1", 1, 1)
				w.sleep(3 * time.Second)
				a.own.Detach()
				w.sleep(400 * time.Millisecond)
				if got := w.states(); got != "a SILENT " {
					t.Errorf("after one refusal: %s", got)
				}
				if c.again {
					w.addFake("a", "a:1", 1, 1)
				}
				w.sleep(101 * time.Millisecond)
				if got := w.states(); got != c.want {
					t.Errorf("after the second probe: %s, want %s", got, c.want)
				}
				w.sleep(500 * time.Millisecond)
				if got, want := w.states(), c.later; want != "" && got != want {
					t.Errorf("after the third probe: %s, want %s", got, want)
				}
			})
		})
	}
}

// TestNewLeaderProbesTasknodesNotAttached leaves a tasknode attached to a suspended leader
// while another master leads. It checks that within adoptionWindow the tasknode does not
// expire while it answers probes.
func TestNewLeaderProbesTasknodesNotAttached(t *testing.T) {
	for name, c := range map[string]struct {
		answers error
		silent  time.Duration // time after which the tasknode has not expired yet
		lost    time.Duration // time after which it has expired; 0 if it attaches and never expires
	}{
		"answers and comes":       {nil, 14 * time.Second, 0},
		"answers and never comes": {nil, 22 * time.Second, 26 * time.Second},
		"gone":                    {errors.New("no route to host"), 9 * time.Second, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, 0, func(w *testCluster) {
				w.configure = func(cfg *jobmaster.Config) {
					cfg.Probe = func(context.Context, string, string) error { return c.answers }
				}
				w.addMaster()
				w.addMaster()
				w.elect(0)
				attach := func() {
					hello := &wire.Report{Machine: "a", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "a1", Http: "a:80", MapSlots: 1}}}
					if _, err := w.leader().Attach(w.ctx, hello, func(*wire.Order) {}, func(error) {}); err != nil {
						t.Error(err)
					}
					w.sleep(time.Millisecond) // until it is in the log
				}
				wantState := func(when, want string) {
					nodes, err := w.leader().Tasknodes(w.ctx)
					if err != nil || len(nodes) != 1 || nodes[0].State != want {
						t.Errorf("%s: %v, %v; want %s", when, nodes, err, want)
					}
				}
				w.sleep(time.Millisecond) // until it leads
				attach()
				w.elect(1)
				w.sleep(c.silent)
				wantState("while it is waited for", "SILENT")
				if c.lost > 0 {
					w.sleep(c.lost - c.silent)
					wantState("in the end", "LOST")
					return
				}
				attach()
				wantState("when it has come", "RUNNING")
				w.sleep(11 * time.Second)
				wantState("when it has been silent after that", "LOST")
			})
		})
	}
}

// TestLostMachineTriggersProgressRequests checks that every other tasknode gets one
// request as soon as one expires.
func TestLostMachineTriggersProgressRequests(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		crash := w.addTasknode("a", 1, 1)
		w.sleep(time.Second)
		var probes atomic.Int32
		hello := &wire.Report{Machine: "b", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "b1", MapSlots: 1}}}
		b, err := w.leader().Attach(w.ctx, hello, func(o *wire.Order) {
			if o.GetRequestProgress() != nil {
				probes.Add(1)
			}
		}, func(error) {})
		must.Do(t, err)
		crash()
		for range 8 { // the last heartbeat of a may be a second old
			w.sleep(time.Second)
			b.Report(&wire.Report{Machine: "b", Report: &wire.Report_Heartbeat_{Heartbeat: new(wire.Report_Heartbeat)}})
		}
		if n := probes.Load(); n != 0 {
			t.Errorf("asked %d times before the verdict", n)
		}
		w.sleep(3 * time.Second)
		if n := probes.Load(); n != 1 {
			t.Errorf("asked %d times after it", n)
		}
	})
}
