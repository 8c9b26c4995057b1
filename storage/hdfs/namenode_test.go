package hdfs_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
)

// wantWords checks that err is not nil and contains each word.
func wantWords(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error that says %q", words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error does not say %q: %v", word, err)
		}
	}
}

// TestNameNodeStopped suspends the NameNode. Calls continue when it answers again, and a
// call with a short timeout fails in time.
func TestNameNodeStopped(t *testing.T) {
	c, fsys := connect(t, nil)
	_, hasty := connect(t, nil)
	dir := newDir(t, fsys)
	must.Do(t, c.NameNode().Stop())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := hasty.Stat(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stat with a deadline: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := fsys.Stat(t.Context(), dir)
		done <- err
	}()
	must.Do(t, c.NameNode().Continue())
	must.Do(t, <-done)
	must.Do(t, c.WaitLive(t.Context(), 3))
}

// TestNameNodeRestarted restarts the NameNode while a client is idle, while a file is being read, while one is
// written in the middle of a block and another is at its end, and during every kind of call.
func TestNameNodeRestarted(t *testing.T) {
	c, fsys := connect(t, nil)
	name, data := bigFile(t, fsys)
	dir := newDir(t, fsys)
	half, end := data[:15<<20+100], data[:5<<20]
	middle, err := fsys.Create(t.Context(), dir+"/middle", twoCopies)
	must.Do(t, err)
	writePieces(t, middle, half)
	ending, err := fsys.Create(t.Context(), dir+"/end", twoCopies)
	must.Do(t, err)
	writePieces(t, ending, end)
	wantSame(t, readAround(t, fsys, name, func() { must.Do(t, c.NameNode().Kill()) }), data)

	later := newDirLater(t, fsys)
	done := make(chan error, 2)
	go func() { done <- everyCall(t, fsys, later) }()
	go func() { done <- ending.Close() }()
	must.Do(t, c.NameNode().Restart(t.Context()))
	must.Do(t, <-done)
	must.Do(t, <-done)
	writePieces(t, middle, data[len(half):])
	must.Do(t, middle.Close())
	wantData(t, fsys, name, data)
	wantData(t, fsys, dir+"/middle", data)
	wantData(t, fsys, dir+"/end", end)
	list, err := fsys.List(t.Context(), dir)
	must.Do(t, err)
	if len(list) != 2 {
		t.Errorf("left behind: %v", list)
	}
	must.Do(t, c.WaitLive(t.Context(), 3))
}

// newDirLater returns the name of a directory that a later call creates.
func newDirLater(t *testing.T, fsys storage.FS) string {
	const dir = "/test/later"
	t.Cleanup(func() { must.Do(t, fsys.Remove(context.Background(), dir, true)) })
	return dir
}

func everyCall(t *testing.T, fsys storage.FS, dir string) error {
	ctx := t.Context()
	if err := fsys.MkdirAll(ctx, dir); err != nil {
		return err
	}
	w, err := fsys.Create(ctx, dir+"/a", storage.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, "text"); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := fsys.Rename(ctx, dir+"/a", dir+"/b"); err != nil {
		return err
	}
	_, err = fsys.Stat(ctx, dir+"/b")
	return err
}

func TestNothingThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	address := l.Addr().String()
	must.Do(t, l.Close())
	_, err = hdfs.New(t.Context(), hdfs.Config{Addresses: []string{address}, User: "u", ConnectTimeout: time.Second})
	wantWords(t, err, "hdfs://"+address, "is HDFS running", "refused")
}

func TestWrongPort(t *testing.T) {
	c, _ := connect(t, nil)
	_, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{c.HTTP()}, User: "u", Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	wantWords(t, err, c.HTTP(), "RPC port")
}

// TestSafeMode checks that a write waits for the end of safe mode, and gives up if it lasts
// too long.
func TestSafeMode(t *testing.T) {
	_, fsys := connect(t, nil)
	dir := newDir(t, fsys)
	must.Do(t, fsys.Admin(t.Context(), "setSafeMode", "action: SAFEMODE_ENTER"))
	_, hasty := connect(t, func(_ *minihdfs.Cluster, cfg *hdfs.Config) { cfg.RetryTimeout = 300 * time.Millisecond })
	_, err := hasty.Create(t.Context(), dir+"/f", storage.CreateOptions{})
	wantWords(t, err, dir+"/f", "safe mode", "dfsadmin")
	done := make(chan error, 1)
	go func() { done <- fsys.MkdirAll(t.Context(), dir+"/waits") }()
	must.Do(t, fsys.Admin(t.Context(), "setSafeMode", "action: SAFEMODE_LEAVE"))
	must.Do(t, <-done)
}
