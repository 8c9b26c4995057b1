package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/server"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/masterlink"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token     = "secret"
	clusterID = "1700000000000"
)

// rig is a cluster on 127.0.0.1 with real masters, servers and connections.
type rig struct {
	t       testing.TB
	fs      storage.FS
	log     sharedLog
	masters []*master
	ctx     context.Context
	logger  *slog.Logger // of the servers; nil for none

	backupError error // set before the first call of Backup
}

// master is a master with its server.
type master struct {
	*jobmaster.Master
	address string
	end     *member
	server  *http.Server
}

func newRig(t testing.TB, masters int) *rig { return newLoggedRig(t, masters, nil) }

// newLoggedRig makes a rig whose servers write to a logger.
func newLoggedRig(t testing.TB, masters int, logger *slog.Logger) *rig {
	r := &rig{t: t, fs: mem.New(mem.Options{}), logger: logger}
	ctx, cancel := context.WithCancel(context.Background())
	var daemons sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		for _, m := range r.masters {
			m.server.Close()
		}
		daemons.Wait()
	})
	r.ctx = ctx
	for range masters {
		m := r.newMaster()
		daemons.Go(func() { m.Run(ctx) })
	}
	r.log.lead(r.log.members[0])
	return r
}

func (r *rig) newMaster() *master {
	m := &master{end: r.log.join()}
	var err error
	m.Master, err = jobmaster.New(jobmaster.Config{
		ClusterID: clusterID, Log: m.end, Policy: func(string, map[string]string) (sched.Policy, error) { return new(fifo.Policy), nil },
		Resolve: r.resolve, TasknodeExpiry: time.Minute,
	})
	must.Do(r.t, err)
	listener := listen(r.t)
	m.address = listener.Addr().String()
	m.server = rpc.NewServer(server.New(server.Config{
		Master: m.Master, Token: token, ClusterID: clusterID, Info: r.info, Leader: r.leader, Docs: board.OfLeader(m.Master), Admin: r, Logger: r.logger,
	}), slog.New(slog.DiscardHandler))
	go m.server.Serve(listener)
	r.masters = append(r.masters, m)
	return m
}

func listen(t testing.TB) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	return l
}

func (r *rig) resolve(_ context.Context, name string) (storage.FS, string, error) {
	return r.fs, strings.TrimPrefix(name, "mem:"), nil
}

func (r *rig) leader() string {
	if i := r.log.leads(); i >= 0 {
		return r.masters[i].address
	}
	return ""
}

func (r *rig) info() *wire.Info {
	info := &wire.Info{ClusterId: clusterID, StagingDir: "mem:/staging"}
	for i, m := range r.masters {
		info.Masters = append(info.Masters, &wire.Info_Master{Id: fmt.Sprint(i), Address: m.address})
	}
	if i := r.log.leads(); i >= 0 {
		info.Leader = fmt.Sprint(i)
	}
	return info
}

// AddMaster implements server.Admin.
func (r *rig) AddMaster(id, address string) error {
	return errors.New("no room for " + id + " at " + address)
}

// Backup implements server.Admin. It fails after backupBytes bytes if backupError is set.
func (r *rig) Backup(_ context.Context, to io.Writer) error {
	for n := 0; n < backupBytes; n += 1 << 10 {
		if _, err := to.Write(bytes.Repeat([]byte{byte(n >> 10)}, 1<<10)); err != nil {
			return err
		}
	}
	return r.backupError
}

// backupBytes is the length of the backup: more than one message has.
const backupBytes = 3<<20 + 1<<10

// RemoveMaster implements server.Admin.
func (r *rig) RemoveMaster(id string) error { return fmt.Errorf("%s: %w", id, jobmaster.ErrNotLeader) }

// TransferLeadership implements server.Admin.
func (r *rig) TransferLeadership(id string) error {
	for i, m := range r.log.members {
		if fmt.Sprint(i) == id {
			r.log.lead(m)
		}
	}
	return nil
}

// callTimeout limits calls. A test that waits so long has failed.
const callTimeout = time.Minute

// calls returns the configuration of callers of these masters.
func calls(addresses ...string) rpc.Config {
	return rpc.Config{Masters: addresses, Token: token, ClusterID: clusterID, Timeout: callTimeout}
}

// client returns a client of these masters, by default of the first.
func (r *rig) client(addresses ...string) *remote.Client {
	if addresses == nil {
		addresses = []string{r.masters[0].address}
	}
	return r.clientWith(calls(addresses...))
}

func (r *rig) clientWith(cfg rpc.Config) *remote.Client {
	r.t.Helper()
	c, err := remote.New(remote.Config{Config: cfg, Resolve: r.resolve, Program: "/dev/null"})
	must.Do(r.t, err)
	r.t.Cleanup(func() { c.Close() })
	return c
}

// node starts a tasknode of these masters, by default of the first, until the test ends.
// The channel yields the result of Run.
func (r *rig) node(name string, l *launcher, addresses ...string) <-chan error {
	r.t.Helper()
	if addresses == nil {
		addresses = []string{r.masters[0].address}
	}
	return r.nodeWith(name, l, calls(addresses...))
}

func (r *rig) nodeWith(name string, l *launcher, cfg rpc.Config) <-chan error {
	r.t.Helper()
	masters, err := rpc.New(cfg)
	must.Do(r.t, err)
	n, err := tasknode.New(tasknode.Config{
		Name: name, MapSlots: 2, ReduceSlots: 1, Dirs: []string{r.t.TempDir()}, Launcher: l, Link: masterlink.NewLink(masters),
		Heartbeat: 100 * time.Millisecond,
	})
	must.Do(r.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { ended <- n.Run(ctx) })
	r.t.Cleanup(func() {
		cancel()
		running.Wait()
		masters.Close()
	})
	return ended
}

// job returns a job with this many maps and reduces, and no output.
func job(maps, reduces int) (*wire.JobSpec, []*taskproc.Split) {
	g := dag.MapReduce(maps, reduces)
	spec := &wire.JobSpec{
		Name: "test", Program: "fake", User: "me", Reduces: int32(reduces), Graph: taskproc.FromGraph(g), Fingerprint: g.Fingerprint(),
	}
	splits := make([]*taskproc.Split, maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: fmt.Sprintf("mem:/in%d", i), Length: 100, FileSize: 100, Ordinal: int32(i)}}}
	}
	return spec, splits
}

// submit submits a job with this many maps and reduces.
func submit(t *testing.T, c *remote.Client, maps, reduces int) string {
	t.Helper()
	spec, splits := job(maps, reduces)
	id, err := c.Submit(t.Context(), spec, splits)
	must.Do(t, err)
	return id
}

// succeeds watches a job to its end.
func succeeds(t *testing.T, c *remote.Client, id string) *wire.JobStatus {
	t.Helper()
	finals := 0
	status, err := c.Watch(t.Context(), id, func(s *wire.JobStatus) {
		if s.State.Final() {
			finals++
		}
	})
	must.Do(t, err)
	if status.State != wire.JobState_SUCCEEDED || finals != 1 {
		t.Fatalf("job %s ended as %v (%s), told %d times", id, status.State, status.Cause, finals)
	}
	return status
}
