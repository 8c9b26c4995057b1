package masterd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/endnotify"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/raftlog"
	"github.com/hammr/hammr/jobmaster/server"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// Daemon is a jobmaster with its log, its network port, its HTTP page and its files.
//
//	Open: resolve ─► listen ─► findAddress ─► openLog ─► OpenDrills ─► openMaster ─► openPages
//	Run:  serve clients, masters and the page ──► ctx ends: yieldLeadership, close all
//	                                          └─► fatal: the log failed, abandon
//
// Goroutines: the goroutines of its parts; one for each of the two listeners; one that
// waits for the first leader.
type Daemon struct {
	daemon.Base
	cfg     Config          // complete after resolve
	peers   []raftlog.Peer  // the first masters; only this master if none are configured
	files   *storage.Router // file systems of jobs, histories and staging
	port    *daemon.Port    // shares Listener between clients and masters
	log     *raftlog.Log    // replicates commands, and knows the leader
	master  *jobmaster.Master
	calls   *server.Server    // answers clients and tasknodes
	fatal   chan error        // receives the error that ended the log
	source  *board.Source     // the cluster, as the pages see it
	gate    *access.Gate      // checks the callers of the pages
	api     http.Handler      // the REST API at the RPC address
	pages   *web.Meters       // count what the pages do
	members members           // the set of masters, while it changes
	isNew   bool              // this is one of the first masters of a cluster, at its first start
	refusal syncutil.Throttle // log lines about refused masters
	pools   string            // name of the allocation file; Reload changes it
}

// Open makes a jobmaster ready to run. If it fails, it closes what it has opened.
func Open(cfg Config) (*Daemon, error) {
	d := &Daemon{cfg: cfg, pools: cfg.AllocationFile, pages: web.NewMeters(), fatal: make(chan error, 1)}
	d.Init(&d.cfg.Common)
	// The log locks the directory, so drills are opened after the log.
	if err := d.Steps(d.resolve, d.listen, d.findAddress, d.openLog, d.OpenDrills, d.openMaster, d.openPages); err != nil {
		return nil, err
	}
	return d, nil
}

// resolve reads the settings that the configuration keeps in files. It reports every error
// at once.
func (d *Daemon) resolve() error {
	d.peers = d.cfg.Peers()
	return errors.Join(d.cfg.Validate(), d.ReadToken(), d.resolveCluster(), d.resolveFiles())
}

// resolveFiles opens the file systems. It takes settings that are not set from the site's
// configuration.
func (d *Daemon) resolveFiles() (err error) {
	c := d.cfg.Conf
	d.cfg.TasknodeExpiry = d.expiry(d.cfg.TasknodeExpiry)
	d.cfg.ElectionTimeout = cmp.Or(d.cfg.ElectionTimeout, c.Duration(conf.MasterElectionTimeout))
	if d.files, err = fsconf.NewRouter(c, d.cfg.Logger); err != nil {
		return err
	}
	d.Opened.Add(d.files.Close)
	if d.cfg.Staging == "" {
		if d.cfg.Staging, err = DefaultStaging(c); err != nil {
			return err
		}
	}
	parent := strings.TrimSuffix(d.cfg.Staging, "/")
	parent = parent[:strings.LastIndexByte(parent, '/')+1]
	d.cfg.HistoryDir = cmp.Or(d.cfg.HistoryDir, parent+"history")
	d.cfg.JobLogDir = cmp.Or(d.cfg.JobLogDir, parent+"joblogs")
	return nil
}

// expiry returns the silence after which a tasknode is lost, from the site's configuration if
// set is 0.
func (d *Daemon) expiry(set time.Duration) time.Duration {
	return cmp.Or(set, d.cfg.Conf.Duration(conf.TasknodeExpiry))
}

// DefaultStaging returns the staging directory of a master whose configuration names none: a directory on the default
// file system.
func DefaultStaging(c *conf.Conf) (string, error) {
	u, err := url.Parse(c.String(conf.DefaultFS))
	if err != nil {
		return "", fmt.Errorf("%s: %w", conf.DefaultFS, err)
	}
	u.Path = path.Join("/", u.Path, "tmp/hammr/staging")
	return u.String(), nil
}

// clusterFile is a file in a master's directory that contains the cluster's id, so that the
// directory is never used for two clusters.
const clusterFile = "cluster"

// raftDir is the directory of the log in a master's directory.
const raftDir = "raft"

// resolveCluster finds the id of the cluster in the configuration or in the directory, or
// makes a new id.
func (d *Daemon) resolveCluster() error {
	if d.cfg.Dir == "" {
		return nil // Validate reports it
	}
	if err := owndir.Make(d.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	id, err := readClusterFile(d.cfg.Dir)
	d.isNew = id == "" && !d.cfg.Join
	switch {
	case err != nil:
		return err
	case d.cfg.ClusterID == "" && id != "":
		d.cfg.ClusterID = id
	case d.cfg.ClusterID != "" && id != "" && id != d.cfg.ClusterID:
		return fmt.Errorf("directory %s is one of cluster %s, not of %s; give another --dir", d.cfg.Dir, id, d.cfg.ClusterID)
	case d.cfg.ClusterID == "" && (len(d.cfg.Masters) > 1 || d.cfg.Join):
		return errors.New("--cluster-id is missing; give each master of the cluster the same number, such as the time in ms")
	case d.cfg.ClusterID == "":
		d.cfg.ClusterID = strconv.FormatInt(time.Now().UnixMilli(), 10)
	}
	return nil
}

// readClusterFile returns the id of the cluster in a master's directory, "" if it has none.
func readClusterFile(dir string) (string, error) {
	saved, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(saved)), err
}

// listen opens both listeners. It is called before the log is opened, so that a port in use
// is reported at once.
func (d *Daemon) listen() (err error) {
	if d.Listener, err = daemon.Listen("address", d.cfg.Address, defaultPort, d.cfg.Limits()); err != nil {
		return err
	}
	d.Opened.Add(d.Listener.Close)
	if d.Page, err = daemon.Listen("http", d.cfg.HTTP, defaultPagePort, daemon.PageLimits(d.cfg.Logger).BehindProxies(d.cfg.PageProxies)); err != nil {
		return err
	}
	d.Opened.Add(d.Page.Close)
	return nil
}

// findAddress finds the address at which others reach this master.
func (d *Daemon) findAddress() (err error) {
	for _, p := range d.peers {
		if p.ID == d.cfg.ID {
			d.cfg.Advertise = cmp.Or(d.cfg.Advertise, p.Address)
		}
	}
	if d.cfg.Advertise == "" {
		d.cfg.Advertise, err = daemon.AdvertisedAddress(d.Listener)
	}
	if len(d.peers) == 0 {
		d.peers = []raftlog.Peer{{ID: d.cfg.ID, Address: d.cfg.Advertise}}
	}
	return err
}

// openLog opens the Raft log, which locks the directory.
func (d *Daemon) openLog() (err error) {
	dir := filepath.Join(d.cfg.Dir, raftDir)
	restores, err := raftlog.OpenRestores(dir, d.cfg.ClusterID, d.cfg.ID, d.cfg.Join)
	if err != nil {
		return err
	}
	d.port = daemon.NewPort(d.Listener, daemon.PortConfig{
		Cluster: d.cfg.ClusterID, Token: d.Token, Restores: restores,
		Refused: d.masterRefused,
	})
	d.Opened.Add(d.port.Close)
	cfg := raftlog.Config{
		ID: d.cfg.ID, ClusterID: d.cfg.ClusterID, Dir: dir,
		Stream: d.port.Masters(), Advertise: d.cfg.Advertise, Logger: d.cfg.Logger,
		ElectionTimeout: d.cfg.ElectionTimeout, VoteTimeout: d.cfg.VoteTimeout, LeaderLease: d.cfg.LeaderLease,
		WatchPatience: d.cfg.StallTimeout, StoreDelay: d.cfg.StoreDelay,
		SnapshotThreshold: uint64(d.cfg.SnapshotEntries), SnapshotInterval: d.cfg.SnapshotInterval,
		Fatal: func(err error) { d.fatal <- err },
	}
	if !d.cfg.Join {
		cfg.Bootstrap = d.peers
	}
	if d.log, err = raftlog.Open(cfg); err != nil {
		return err
	}
	d.Opened.Add(d.log.Close)
	return writeClusterFile(d.cfg.Dir, d.cfg.ClusterID)
}

// writeClusterFile writes the cluster's id to a master's directory.
func writeClusterFile(dir, clusterID string) error {
	return os.WriteFile(filepath.Join(dir, clusterFile), []byte(clusterID+"\n"), 0o644)
}

// masterRefused logs a refused master, at most once a second.
func (d *Daemon) masterRefused(from net.Addr, err error) {
	if skipped, ok := d.refusal.Allow(); ok {
		d.cfg.Logger.Warn("connection of a master refused", "from", from, "error", err, "not logged", skipped)
	}
}

// openMaster makes the jobmaster on the log. Run starts it.
func (d *Daemon) openMaster() (err error) {
	shuffleKey := transfer.ServerKey(d.Token)
	notified, _ := endnotify.ParseNetworks(d.cfg.NotificationNetworks) // checked by Validate
	cfg := jobmaster.Config{
		ClusterID: d.cfg.ClusterID, Log: d.log, Policy: NewPolicy, Resolve: d.files.Resolve,
		PolicyName: d.cfg.Policy, Pools: d.cfg.Pools, PoolFile: newPoolFile(d.cfg.AllocationFile, ""), Decisions: d.cfg.Decisions,
		CreatePools:    strings.ToLower(d.cfg.Conf.String("hammr.pools.create")),
		TasknodeExpiry: d.cfg.TasknodeExpiry, Probe: probeTasknode, TasknodeForget: d.cfg.TasknodeForget,
		Notify:     endnotify.New(endnotify.Config{Networks: notified}).Get,
		HistoryDir: d.cfg.HistoryDir, LogDir: d.cfg.JobLogDir, StagingDir: d.cfg.Staging, Retention: d.cfg.Retention,
		KeepJobs: d.cfg.KeepJobs, KeepTasks: d.cfg.KeepTasks,
		CommonVersion: d.commonVersion, Masters: d.log.Addresses,
		ShuffleToken: func(job string) string { return transfer.JobToken(shuffleKey, job) },
		Limits:       cluster.ReadLimits(d.cfg.Conf.Int), Now: failpoint.Now, Logger: d.cfg.Logger,
	}
	if d.isNew {
		cfg.InitialPolicy, cfg.InitialConf = parsePolicy(d.cfg.InitialPolicy)
	}
	if d.master, err = jobmaster.New(cfg); err != nil {
		return err
	}
	d.Watchdog = daemon.NewWatchdog(d.master.CheckLoop, d.cfg.Logger)
	return nil
}
