package tasknoded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDaemon runs a jobmaster and a tasknode in this process until the tasknode has
// joined.
func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	m, stopMaster := startMaster(t, dir)
	cfg := newConfig(dir, "n1", m)
	cfg.MapSlots = 3
	stopTasknode := start(t, runs(cfg))
	awaitReady(t, cfg.ReadyFile)

	c := connect(t, m)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	tasknodes, err := docs.LiveNodes(t.Context(), c)
	for limit := time.After(time.Minute); err == nil && len(tasknodes) == 0; tasknodes, err = docs.LiveNodes(t.Context(), c) {
		select { // the join is not applied yet
		case <-tick.C:
		case <-limit:
			t.Fatal("the tasknode is not listed")
		}
	}
	if err != nil || len(tasknodes) != 1 || tasknodes[0].Name != "n1" || tasknodes[0].MapSlots != 3 {
		t.Errorf("tasknodes are %v, %v", tasknodes, err)
	}
	if _, err := Open(cfg); err == nil {
		t.Error("a second tasknode uses the same directory")
	}
	stopTasknode()
	stopMaster()
}

// secret is the token of the clusters of these tests.
const secret = "secret-of-this-test"

// startMaster runs a jobmaster in a directory.
func startMaster(t *testing.T, dir string) (m *masterd.Daemon, stop func()) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, "token"), []byte(secret+"\n"), 0o600))
	var cfg masterd.Config
	cfg.EnsureDefaults()
	cfg.ID, cfg.Dir, cfg.TokenFile, cfg.Staging = "m1", filepath.Join(dir, "m1"), filepath.Join(dir, "token"), "file://"+dir+"/staging"
	cfg.Address, cfg.HTTP, cfg.Nice = "127.0.0.1:0", "127.0.0.1:0", 0
	m, err := masterd.Open(cfg)
	must.Do(t, err)
	return m, start(t, m.Run)
}

// newConfig configures a tasknode of a master that startMaster has started.
func newConfig(dir, name string, m *masterd.Daemon) (cfg Config) {
	cfg.EnsureDefaults()
	cfg.Name, cfg.Masters, cfg.Dir, cfg.TokenFile = name, []string{m.Address()}, filepath.Join(dir, name), filepath.Join(dir, "token")
	cfg.Address, cfg.HTTP, cfg.Cgroup = "127.0.0.1:0", "127.0.0.1:0", CgroupNone
	cfg.ReadyFile = filepath.Join(dir, name+".ready")
	return cfg
}

// connect returns a client, which is closed after the test.
func connect(t *testing.T, m *masterd.Daemon) *remote.Client {
	t.Helper()
	c, err := remote.New(remote.Config{Config: rpc.Config{Masters: []string{m.Address()}, Token: secret, Timeout: time.Minute}})
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// runs opens and runs a tasknode.
func runs(cfg Config) func(context.Context) error {
	return func(ctx context.Context) error {
		d, err := Open(cfg)
		if err != nil {
			return err
		}
		return d.Run(ctx)
	}
}

// start runs a daemon; stop ends it and waits for it.
func start(t *testing.T, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func awaitReady(t *testing.T, file string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); ; {
		if _, err := daemon.ReadReady(file); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("the tasknode has not joined")
		}
	}
}

func TestOpenReportsEveryError(t *testing.T) {
	cfg := Config{Common: daemon.Common{Address: "127.0.0.1:0", HTTP: "127.0.0.1:0"}}
	_, err := Open(cfg)
	for _, want := range []string{"--name is missing", "--dir is missing", "--token-file is missing", "--masters is missing", "there would be nothing to run"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
