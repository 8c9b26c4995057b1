package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/files"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/edge"
	"github.com/hammr/hammr/jobmaster/raftlog"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/storage"
)

// masterDaemon is a jobmaster and all that it stands on.
//
// Goroutines: those of its parts; one for each of the two listeners; one that
// waits for the first leader.
type masterDaemon struct {
	cfg      masterConfig
	stderr   io.Writer
	token    string
	peers    []raftlog.Peer
	logger   *slog.Logger
	files    *storage.Router
	listener net.Listener // of the port
	page     net.Listener
	port     *daemon.Port
	log      *raftlog.Log
	master   *jobmaster.Master
	fatal    chan error
}

// openMaster makes a jobmaster ready to run, or leaves nothing open.
func openMaster(cfg masterConfig, stderr io.Writer) (m *masterDaemon, err error) {
	logger := cfg.log.Logger(stderr)
	m = &masterDaemon{cfg: cfg, stderr: stderr, logger: logger, fatal: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if err := m.settle(); err != nil {
		return nil, err
	}
	if m.listener, err = listen("address", withDefaultPort(m.cfg.address, "7070")); err != nil {
		return nil, err
	}
	if m.page, err = listen("http", withDefaultPort(m.cfg.http, "7080")); err != nil {
		return nil, err
	}
	if err := m.findAddress(); err != nil {
		return nil, err
	}
	m.port = daemon.NewPort(m.listener, daemon.PortConfig{
		Cluster: m.cfg.clusterID, Token: m.token,
		Refused: func(from net.Addr, err error) { logger.Warn("master refused", "from", from, "error", err) },
	})
	if err := m.openLog(); err != nil {
		return nil, err
	}
	m.master, err = jobmaster.New(jobmaster.Config{
		ClusterID: m.cfg.clusterID, Log: m.log, Policy: policyNamed, Resolve: m.files.Resolve,
		NodeExpiry: m.cfg.expiry, HistoryDir: m.cfg.historyDir, LogDir: m.cfg.jobLogDir, StagingDir: m.cfg.staging,
		Retention: m.cfg.retention, ShuffleToken: shuffleToken(m.token), Logger: logger,
	})
	return m, err
}

// settle finds out what the configuration leaves open. It tells every fault.
func (m *masterDaemon) settle() error {
	var faults []error
	var err error
	m.token, err = rpc.ReadToken(m.cfg.tokenFile)
	faults = append(faults, err)
	m.peers, err = m.cfg.peers()
	faults = append(faults, err, m.settleCluster())
	return errors.Join(append(faults, m.settleFiles())...)
}

// settleFiles opens the file systems that the configuration describes.
func (m *masterDaemon) settleFiles() error {
	c, err := generic{}.load(m.stderr)
	if err != nil {
		return err
	}
	if m.files, err = files.NewRouter(c, m.logger); err == nil && m.cfg.staging == "" {
		m.cfg.staging, err = defaultStaging(c)
	}
	parent := strings.TrimSuffix(m.cfg.staging, "/")
	parent = parent[:strings.LastIndexByte(parent, '/')+1]
	if m.cfg.historyDir == "" {
		m.cfg.historyDir = parent + "history"
	}
	if m.cfg.jobLogDir == "" {
		m.cfg.jobLogDir = parent + "joblogs"
	}
	return err
}

// clusterFile remembers the cluster's id in the directory of a master.
const clusterFile = "cluster"

// settleCluster finds the id of the cluster: given, remembered, or new.
func (m *masterDaemon) settleCluster() error {
	remembered, err := os.ReadFile(filepath.Join(m.cfg.dir, clusterFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	id := strings.TrimSpace(string(remembered))
	switch {
	case m.cfg.clusterID == "" && id != "":
		m.cfg.clusterID = id
	case m.cfg.clusterID != "" && id != "" && id != m.cfg.clusterID:
		return fmt.Errorf("directory %s is one of cluster %s, not of %s; give another --dir", m.cfg.dir, id, m.cfg.clusterID)
	case m.cfg.clusterID == "" && (len(m.cfg.masters) > 1 || m.cfg.join):
		return errors.New("--cluster-id is missing; masters of one cluster are given the same, the time in ms, say")
	case m.cfg.clusterID == "":
		m.cfg.clusterID = strconv.FormatInt(time.Now().UnixMilli(), 10)
	}
	if n, err := strconv.ParseUint(m.cfg.clusterID, 10, 63); err != nil || n == 0 {
		return fmt.Errorf("--cluster-id %q: expected a number", m.cfg.clusterID)
	}
	return nil
}

// findAddress finds where others reach this master.
func (m *masterDaemon) findAddress() (err error) {
	for _, p := range m.peers {
		if p.ID == m.cfg.id && m.cfg.advertise == "" {
			m.cfg.advertise = p.Address
		}
	}
	if m.cfg.advertise == "" {
		m.cfg.advertise, err = advertised(m.listener)
	}
	if len(m.peers) == 0 {
		m.peers = []raftlog.Peer{{ID: m.cfg.id, Address: m.cfg.advertise}}
	}
	return err
}

func (m *masterDaemon) openLog() (err error) {
	cfg := raftlog.Config{
		ID: m.cfg.id, ClusterID: m.cfg.clusterID, Dir: filepath.Join(m.cfg.dir, "raft"),
		Stream: m.port.Masters(), Advertise: m.cfg.advertise, Heartbeat: m.cfg.election, Logger: m.logger,
		Fatal: func(err error) { m.fatal <- err },
	}
	if !m.cfg.join {
		cfg.Bootstrap = m.peers
	}
	if m.log, err = raftlog.Open(cfg); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.cfg.dir, clusterFile), []byte(m.cfg.clusterID+"\n"), 0o644)
}

// run serves until ctx ends or the log cannot go on. Then it hands the lead over
// and closes everything.
func (m *masterDaemon) run(ctx context.Context) error {
	loop, endLoop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { m.master.Run(loop) })
	server := rpc.NewServer(m.edge(), m.logger)
	running.Go(func() {
		if err := server.Serve(m.port.Clients()); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			m.logger.Error("calls are not served any more", "error", err)
		}
	})
	stopPage := servePage(m.page, m.newPage())
	ready, endReady := context.WithCancel(ctx)
	running.Go(func() { m.sayReady(ready) })
	m.logger.Info("jobmaster serves", "id", m.cfg.id, "cluster", m.cfg.clusterID, "address", m.cfg.advertise, "http", m.page.Addr().String())
	var err error
	select {
	case <-ctx.Done():
		m.handOver()
	case err = <-m.fatal:
		err = fmt.Errorf("the log cannot go on: %w", err)
	}
	endReady()
	endLoop() // which ends the calls under way
	stopPage()
	shutdown, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(shutdown) != nil {
		server.Close()
	}
	err = errors.Join(err, m.close())
	running.Wait()
	m.logger.Info("jobmaster has ended", "id", m.cfg.id)
	return err
}

// close closes what openMaster has opened, as far as that is.
func (m *masterDaemon) close() error {
	var faults []error
	if m.log != nil {
		faults = append(faults, m.log.Close())
	}
	if m.port != nil {
		faults = append(faults, m.port.Close())
	} else if m.listener != nil {
		faults = append(faults, m.listener.Close())
	}
	if m.page != nil {
		if err := m.page.Close(); !errors.Is(err, net.ErrClosed) {
			faults = append(faults, err)
		}
	}
	if m.files != nil {
		faults = append(faults, m.files.Close())
	}
	return errors.Join(faults...)
}

func (m *masterDaemon) edge() http.Handler {
	return edge.New(edge.Config{
		Master: m.master, Token: m.token, ClusterID: m.cfg.clusterID, Info: m.info,
		Leader: func() string { return m.log.Leader().Address }, Confirm: m.log.ConfirmLead,
		Admin: masterAdmin{m.log}, Logger: m.logger,
	})
}

// sayReady writes the ready file once a leader is known.
func (m *masterDaemon) sayReady(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for m.log.Leader().ID == "" {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	err := daemon.WriteReady(m.cfg.readyFile, daemon.Ready{
		Name: m.cfg.id, Address: m.cfg.advertise, HTTP: m.page.Addr().String(), PID: os.Getpid(),
	})
	if err != nil {
		m.logger.Error("nobody hears that this master is ready", "error", err)
	}
}

// policyNamed makes the policy of a name.
func policyNamed(name string) (sched.Policy, error) {
	if name != "fifo" {
		return nil, fmt.Errorf("policy %q: not one of fifo", name)
	}
	return fifo.New(sched.Placement{Patience: sched.DefaultPatience, Delay: sched.DefaultDelay}), nil
}

// defaultStaging is the staging directory where nobody has named one.
func defaultStaging(c *conf.Conf) (string, error) {
	u, err := url.Parse(c.String(conf.DefaultFS))
	if err != nil {
		return "", fmt.Errorf("%s: %w", conf.DefaultFS, err)
	}
	u.Path = path.Join("/", u.Path, "tmp/hammr/staging")
	return u.String(), nil
}
