package raftlog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// cable is a Stream that can be unplugged: connections end, and none are made until it
// is plugged in again.
type cable struct {
	Stream
	mu struct {
		sync.Mutex
		out  bool
		open []net.Conn
	}
}

func (c *cable) set(out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.out = out
	if out {
		for _, conn := range c.mu.open {
			conn.Close()
		}
		c.mu.open = nil
	}
}

func (c *cable) keep(conn net.Conn, err error) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.mu.out {
		conn.Close()
		return nil, errors.New("the cable is out")
	}
	if err == nil {
		c.mu.open = append(c.mu.open, conn)
	}
	return conn, err
}

func (c *cable) Dial(address string, timeout time.Duration) (net.Conn, error) {
	return c.keep(c.Stream.Dial(address, timeout))
}

func (c *cable) Accept() (net.Conn, error) {
	for {
		conn, err := c.Stream.Accept()
		if err != nil {
			return nil, err
		}
		if kept, err := c.keep(conn, nil); err == nil {
			return kept, nil
		}
	}
}

// server is a complete jobmaster on a real log.
type server struct {
	t     testing.TB
	cfg   Config
	fs    storage.FS
	cable *cable
	end   func() // stops what runs now and waits for it

	mu struct {
		sync.Mutex
		log    *Log
		master *jobmaster.Master
	}
}

// startServers starts a cluster of complete jobmasters.
func startServers(t testing.TB, n int) (servers []*server) {
	fsys := mem.New(mem.Options{})
	var peers []Peer
	for _, id := range []string{"m1", "m2", "m3", "m4", "m5"}[:n] {
		stream := listen("")
		s := &server{t: t, cfg: testConfig(t, id), fs: fsys, cable: &cable{Stream: stream}}
		s.cfg.Advertise = stream.Addr().String()
		peers = append(peers, Peer{id, s.cfg.Advertise})
		servers = append(servers, s)
	}
	for _, s := range servers {
		s.cfg.Bootstrap = peers
		s.start()
		t.Cleanup(func() { s.end() })
	}
	return servers
}

// start opens the log, on the old stream or a new one, and runs a master on it.
func (s *server) start() {
	s.t.Helper()
	if s.cable == nil {
		s.cable = &cable{Stream: listen(s.cfg.Advertise)}
	}
	s.cfg.Stream = s.cable
	s.cfg.Fatal = func(err error) { s.t.Errorf("%s cannot serve: %v", s.cfg.ID, err) }
	log, err := Open(s.cfg)
	must.Do(s.t, err)
	m, err := jobmaster.New(jobmaster.Config{
		ClusterID: s.cfg.ClusterID, Log: log, KeepJobs: 1 << 20,
		Policy: func(string, map[string]string) (sched.Policy, error) { return fifo.New(sched.DefaultPlacement()), nil },
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return s.fs, strings.TrimPrefix(name, "mem://"), nil
		},
	})
	must.Do(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	s.end = func() {
		cancel()
		running.Wait()
		if err := log.Close(); err != nil {
			s.t.Error(err)
		}
		s.cable = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.log, s.mu.master = log, m
}

func (s *server) now() (*Log, *jobmaster.Master) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.log, s.mu.master
}

// leads reports whether a majority confirms the lead.
func (s *server) leads() bool {
	log, _ := s.now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return log.ConfirmLead(ctx) == nil
}

// stage stages the splits of a job with this many maps, and returns the job.
func stage(t testing.TB, fsys storage.FS, name string, maps int) *wire.JobSpec {
	splits := make([]*taskproc.Split, maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "mem:///in", Start: int64(i) * 100, Length: 100, FileSize: int64(maps) * 100}}}
	}
	data, hash, err := taskproc.EncodeSplits(splits)
	if err != nil {
		t.Error(err)
	}
	f, err := fsys.Create(context.Background(), "/staging/"+name, storage.CreateOptions{})
	if err != nil {
		panic(err) // of a file system in memory
	}
	_, err = io.Copy(f, bytes.NewReader(data))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Error(err)
	}
	g := dag.MapReduce(maps, 0)
	return &wire.JobSpec{
		Program: "fake", User: "me", Graph: taskproc.FromGraph(g), Fingerprint: g.Fingerprint(),
		SplitsPath: "mem:///staging/" + name, SplitsHash: hash,
	}
}

// numberOf returns the number in the id of a job.
func numberOf(t testing.TB, id string) int {
	parsed, err := cluster.ParseJobID(id)
	if err != nil {
		t.Error(err)
	}
	return parsed.Number
}
