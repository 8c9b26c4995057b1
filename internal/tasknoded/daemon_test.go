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
	"github.com/hammr/hammr/internal/masterd"
	"github.com/hammr/hammr/internal/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDaemon runs a jobmaster and a tasknode in this process until the tasknode has
// joined.
func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte("secret-of-this-test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var master masterd.Config
	master.EnsureDefaults()
	master.ID, master.Dir, master.TokenFile, master.Staging = "m1", filepath.Join(dir, "m1"), tokenFile, "file://"+dir+"/staging"
	master.Address, master.HTTP, master.Nice = "127.0.0.1:0", "127.0.0.1:0", 0
	m, err := masterd.Open(master)
	if err != nil {
		t.Fatal(err)
	}
	stopMaster := start(t, m.Run)

	var cfg Config
	cfg.EnsureDefaults()
	cfg.Name, cfg.Masters, cfg.Dir, cfg.TokenFile = "n1", []string{m.Address()}, filepath.Join(dir, "n1"), tokenFile
	cfg.Address, cfg.HTTP, cfg.MapSlots, cfg.Cgroup = "127.0.0.1:0", "127.0.0.1:0", 3, CgroupNone
	cfg.ReadyFile = filepath.Join(dir, "ready.json")
	stopTasknode := start(t, func(ctx context.Context) error { return Run(ctx, cfg) })
	awaitReady(t, cfg.ReadyFile)

	c, err := remote.New(remote.Config{Config: rpc.Config{Masters: []string{m.Address()}, Token: "secret-of-this-test", Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	tasknodes, err := c.Tasknodes(t.Context(), false)
	for limit := time.After(time.Minute); err == nil && len(tasknodes) == 0; tasknodes, err = c.Tasknodes(t.Context(), false) {
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
	cfg := Config{Address: "127.0.0.1:0", HTTP: "127.0.0.1:0"}
	_, err := Open(cfg)
	for _, want := range []string{"--name is missing", "--dir is missing", "--token-file is missing", "--masters is missing", "there would be nothing to run"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
