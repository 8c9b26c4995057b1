package tasknode

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// fakeDirs is one directory that the test fills.
type fakeDirs struct {
	dir  string
	full atomic.Bool
	used atomic.Int32
}

func (p *fakeDirs) Add(string) func() { return func() {} }

func (p *fakeDirs) Check() error {
	if p.full.Load() {
		return errors.New("disk full")
	}
	return nil
}

func (p *fakeDirs) Acquire() (string, func(), error) {
	if err := p.Check(); err != nil {
		return "", nil, err
	}
	p.used.Add(1)
	return p.dir, func() { p.used.Add(-1) }, nil
}

func TestDaemonWithoutDiskSpaceOffersNoSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](),
			reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		}
		p := &fakeDirs{dir: b.dir}
		n, err := New(Config{
			Name: "n", MapSlots: 3, ReduceSlots: 1, Dirs: []string{t.TempDir(), b.dir}, DirChooser: p, Launcher: b, Link: b, Heartbeat: time.Second,
		})
		must.Do(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error)
		go func() { ended <- n.Run(ctx) }()
		want := func(slots int32) {
			t.Helper()
			for r := range b.reports {
				if r.GetHeartbeat() != nil {
					continue
				}
				if got := r.GetJoined(); got == nil || got.MapSlots != slots || (slots == 0) != (got.ReduceSlots == 0) {
					t.Errorf("report %v, want %d slots", r, slots)
				}
				return
			}
		}
		want(3)
		synctest.Wait()
		task := b.start(taskproc.Kind_MAP)
		if p.used.Load() != 1 {
			t.Errorf("%d places taken", p.used.Load())
		}
		p.full.Store(true)
		second := strings.Replace(attemptID, "m_000000", "m_000001", 1)
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: second},
		}}})
		if r := <-b.reports; r.AttemptId != second || r.GetExited().GetCause() != "disk full" {
			t.Errorf("report %v", r)
		}
		want(0)
		time.Sleep(3500 * time.Millisecond) // it is said once
		p.full.Store(false)
		want(3)
		task.end(nil)
		for (<-b.reports).GetFailed() == nil {
		}
		synctest.Wait()
		if p.used.Load() != 0 {
			t.Errorf("%d places taken", p.used.Load())
		}
		if list, err := filepath.Glob(filepath.Join(b.dir, "job_1_0001", "*", "*")); err != nil || len(list) != 0 {
			t.Errorf("files left: %v, %v", list, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
