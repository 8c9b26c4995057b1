package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/raftlog"
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
	drills   *failpoint.Control // nil when it takes no part in them
}

// openMaster makes a jobmaster ready to run, or leaves nothing open.
func openMaster(cfg masterConfig, logger *slog.Logger, stderr io.Writer) (*masterDaemon, error) {
	m := &masterDaemon{cfg: cfg, stderr: stderr, logger: logger, fatal: make(chan error, 1)}
	for _, step := range []func() error{m.settle, m.openListeners, m.findAddress, m.openLog, m.openDrills, m.openMaster} {
		if err := step(); err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	return m, nil
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
	c, err := genericOptions{}.load(m.stderr)
	if err != nil {
		return err
	}
	if m.cfg.expiry == 0 {
		m.cfg.expiry = c.Duration(conf.TasknodeExpiry)
	}
	if m.cfg.election == 0 {
		m.cfg.election = c.Duration(conf.MasterElectionTimeout)
	}
	if m.files, err = fsconf.NewRouter(c, m.logger); err == nil && m.cfg.staging == "" {
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

func (m *masterDaemon) openListeners() (err error) {
	if m.listener, err = listen("address", withDefaultPort(m.cfg.address, "7070")); err != nil {
		return err
	}
	m.page, err = listen("http", withDefaultPort(m.cfg.http, "7080"))
	return err
}

func (m *masterDaemon) openLog() (err error) {
	m.port = daemon.NewPort(m.listener, daemon.PortConfig{
		Cluster: m.cfg.clusterID, Token: m.token,
		Refused: func(from net.Addr, err error) { m.logger.Warn("master refused", "from", from, "error", err) },
	})
	cfg := raftlog.Config{
		ID: m.cfg.id, ClusterID: m.cfg.clusterID, Dir: filepath.Join(m.cfg.dir, "raft"),
		Stream: m.port.Masters(), Advertise: m.cfg.advertise, Logger: m.logger,
		ElectionTimeout: m.cfg.election, VoteTimeout: m.cfg.vote, LeaderLease: m.cfg.lease, WatchPatience: m.cfg.stall,
		StoreDelay: m.cfg.storeDelay, SnapshotThreshold: uint64(m.cfg.snapshotAfter), SnapshotInterval: m.cfg.snapshotEvery,
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

// openDrills makes the master fail on command, if it is to. It comes when the
// directory is this master's own, and before it uses other files.
func (m *masterDaemon) openDrills() (err error) {
	m.drills, err = openDrills(m.cfg.drills, m.cfg.dir, m.logger)
	return err
}

func (m *masterDaemon) openMaster() (err error) {
	var decisions io.Writer
	if m.cfg.decisions != "" {
		if decisions, err = m.cfg.log.Rotated("decisions-file", m.cfg.decisions); err != nil {
			return err
		}
	}
	m.master, err = jobmaster.New(jobmaster.Config{
		ClusterID: m.cfg.clusterID, Log: m.log, Policy: policyMaker(m.logger), Resolve: m.files.Resolve,
		PolicyName: m.cfg.policy, Pools: m.cfg.pools, PoolFile: m.poolFile(), Decisions: decisions,
		NodeExpiry: m.cfg.expiry, Probe: probeTasknode, NodeForget: m.cfg.forget, HistoryDir: m.cfg.historyDir, LogDir: m.cfg.jobLogDir, StagingDir: m.cfg.staging,
		Retention: m.cfg.retention, ShuffleToken: shuffleToken(m.token), Now: failpoint.Now, Logger: m.logger,
	})
	return err
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
