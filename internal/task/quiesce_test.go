package task

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/storage/mem"
)

// TestSuspendsWithoutOpenRemoteFiles quiesces an attempt between two remote files.
// The next file waits until the attempt is resumed.
func TestSuspendsWithoutOpenRemoteFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := conf.FromMap(nil)
		must.Do(t, err)
		a := &Attempt{ctx: t.Context(), Conf: c}
		elsewhere := mem.New(mem.Options{})
		create := func(path string) storage.Writer {
			w, err := a.create(elsewhere, path)
			if err != nil {
				t.Error(err)
			}
			return w
		}
		for i, end := range []func(storage.Writer) error{storage.Writer.Close, storage.Writer.Abort} {
			w := create([]string{"/closed", "/aborted"}[i])
			if a.gate.tryQuiesce() {
				t.Error("it is suspended while it writes")
			}
			if err := end(w); err != nil {
				t.Error(err)
			}
			_ = end(w) // a second end has no effect
		}
		for range 2 { // the order is repeated
			if !a.gate.tryQuiesce() {
				t.Error("it is not suspended though nothing is open")
			}
		}
		opened := make(chan storage.Writer)
		go func() { opened <- create("/next") }()
		synctest.Wait()
		select {
		case <-opened:
			t.Error("a file is opened meanwhile")
		default:
		}
		a.gate.resume()
		if w := <-opened; w.Close() != nil || !a.gate.tryQuiesce() {
			t.Error("it is not suspended a second time")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errKilled)
		a.ctx = ctx
		if err := a.countRemote(); !errors.Is(err, errKilled) {
			t.Errorf("a killed attempt waits: %v", err)
		}
		a.ctx = t.Context()
		if w, err := a.create(local.New(local.Options{}), t.TempDir()+"/here"); err != nil || w.Close() != nil {
			t.Errorf("a file of this machine: %v", err)
		}
	})
}
