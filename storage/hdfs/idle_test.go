package hdfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/hdfs/namenodetest"
)

// TestIdleConnectionsAreClosed uses a file system and then leaves it alone, without Close. All its
// connections must end. A later call connects again.
func TestIdleConnectionsAreClosed(t *testing.T) {
	n := namenodetest.Start(t)
	f, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{fmt.Sprint("127.0.0.1:", n.Port)}, User: "u", IdleTimeout: 300 * time.Millisecond})
	must(t, err)
	defer f.Close()
	for range 2 {
		began := n.Seen()
		for range 4 {
			if _, err := f.Stat(t.Context(), "/x"); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("stat: %v", err)
			}
		}
		if n.Seen() == began {
			t.Error("the calls made no connection")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		must(t, n.AwaitNone(ctx))
		cancel()
	}
}

// TestConnectionsInUseAreKept makes calls that are closer than the time for idle connections.
func TestConnectionsInUseAreKept(t *testing.T) {
	n := namenodetest.Start(t)
	f, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{fmt.Sprint("127.0.0.1:", n.Port)}, User: "u", IdleTimeout: time.Minute, Connections: 1})
	must(t, err)
	defer f.Close()
	for range 20 {
		_, _ = f.Stat(t.Context(), "/x") // refused
	}
	if n.Seen() > 2 || n.Open() != n.Seen() {
		t.Errorf("%d connections were made for reads, %d are open", n.Seen(), n.Open())
	}
}
