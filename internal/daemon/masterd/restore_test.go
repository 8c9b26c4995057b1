package masterd_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

const testToken = "secret-of-this-test"

// lone is a cluster of one master in this process.
type lone struct {
	t   *testing.T
	cfg masterd.Config
}

// newLone describes a cluster with files in a new directory.
func newLone(t *testing.T) *lone {
	t.Helper()
	dir := t.TempDir()
	l := &lone{t: t}
	l.cfg.EnsureDefaults()
	l.cfg.ID, l.cfg.Dir, l.cfg.TokenFile, l.cfg.Staging = "m1", filepath.Join(dir, "m1"), filepath.Join(dir, "token"), "file://"+dir+"/staging"
	l.cfg.Address, l.cfg.HTTP, l.cfg.Nice, l.cfg.Version = "127.0.0.1:0", "127.0.0.1:0", 0, "v1.2.3"
	must.Do(t, os.WriteFile(l.cfg.TokenFile, []byte(testToken+"\n"), 0o600))
	return l
}

// start starts the master. The function ends it.
func (l *lone) start() (c *remote.Client, stop func()) {
	l.t.Helper()
	d, err := masterd.Open(l.cfg)
	must.Do(l.t, err)
	l.cfg.Address = d.Address() // of the next start too
	ctx, cancel := context.WithCancel(l.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	c, err = remote.New(remote.Config{Config: rpc.Config{Masters: []string{d.Address()}, Token: testToken, Timeout: time.Minute}})
	must.Do(l.t, err)
	return c, func() {
		c.Close()
		cancel()
		if err := <-ended; err != nil {
			l.t.Errorf("end of the master: %v", err)
		}
	}
}

// TestRestoreRefuses restores a backup where that would do harm, and then to a new directory.
func TestRestoreRefuses(t *testing.T) {
	l := newLone(t)
	c, stop := l.start()
	must.Do(t, client.SetPolicy(t.Context(), c, "fair", nil))
	backup := filepath.Join(t.TempDir(), "backup")
	info, err := masterd.SaveBackup(backup, func(to io.Writer) error { return c.Backup(t.Context(), to) })
	if err != nil || info.Version != "v1.2.3" || len(info.Masters) != 1 {
		t.Fatalf("backup %+v, %v", info, err)
	}
	fresh := filepath.Join(t.TempDir(), "new")
	restore := func(change func(*masterd.RestoreConfig)) error {
		cfg := masterd.RestoreConfig{Backup: backup, Dir: fresh, ID: "m1", TokenFile: l.cfg.TokenFile}
		change(&cfg)
		_, err := masterd.Restore(t.Context(), cfg)
		return err
	}
	refused := func(what, want string, change func(*masterd.RestoreConfig)) {
		t.Helper()
		if err := restore(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if _, err := os.Stat(fresh); err == nil {
			t.Errorf("%s: the directory was made", what)
		}
	}
	write := func(name string, data []byte) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(file, data, 0o600))
		return file
	}
	same := func(*masterd.RestoreConfig) {}
	refused("the master runs", "cluster "+info.Cluster+" lives: master m1 at "+l.cfg.Address+" answers; stop all of its masters", same)
	refused("the master runs, and the token is another", "lives: master m1", func(cfg *masterd.RestoreConfig) {
		cfg.TokenFile = write("token", []byte("another-secret-of-16-bytes\n"))
	})
	stop()
	whole, err := os.ReadFile(backup)
	must.Do(t, err)
	refused("its own directory", "is not empty, it has cluster; give another --dir", func(cfg *masterd.RestoreConfig) { cfg.Dir = l.cfg.Dir })
	refused("another cluster", "is of cluster "+info.Cluster+", not of 7; give a backup of that cluster", func(cfg *masterd.RestoreConfig) { cfg.ClusterID = "7" })
	refused("directory of another cluster", "is one of cluster 8, and backup", func(cfg *masterd.RestoreConfig) {
		cfg.Dir = filepath.Dir(write("cluster", []byte("8\n")))
	})
	refused("truncated", "it is truncated: it ends after 100 bytes; use another copy", func(cfg *masterd.RestoreConfig) { cfg.Backup = write("b", whole[:100]) })
	refused("no file", "no such file", func(cfg *masterd.RestoreConfig) { cfg.Backup += "x" })
	refused("unknown id", "has no master m9; give its --address", func(cfg *masterd.RestoreConfig) { cfg.ID = "m9" })
	refused("unusable address", "cannot be reached from other machines", func(cfg *masterd.RestoreConfig) { cfg.Address = "0.0.0.0:1" })
	refused("no token", "file of the cluster's token", func(cfg *masterd.RestoreConfig) { cfg.TokenFile += "x" })
	must.Do(t, restore(same))
	l.cfg.Dir = fresh
	c, stop = l.start()
	defer stop()
	if p, err := docs.Policy.From(t.Context(), c, docs.No{}); err != nil || p.Policy != "fair" {
		t.Errorf("policy %v, %v", p, err)
	}
	_, err = masterd.Recover(t.Context(), masterd.RecoverConfig{Dir: fresh, TokenFile: l.cfg.TokenFile})
	if err == nil || !strings.Contains(err.Error(), "is in use by another process") {
		t.Errorf("recovery of a master that runs: %v", err)
	}
}
