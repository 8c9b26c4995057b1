package minihdfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// YarnConfig says how YARN is started over a cluster.
type YarnConfig struct {
	// Maps is how many maps a NodeManager runs at a time, beside as many reduces. Default 2.
	Maps int
	// Properties of daemons and of jobs override those of this package.
	Properties map[string]string
}

// Yarn is a ResourceManager with the FairScheduler and a NodeManager at the address of each
// DataNode, in its namespace if it has one: a map there is local to that DataNode's blocks.
// MapReduce's masters and its shuffle listen on all addresses of the machine or namespace.
//
// Measurements compare Hammr with it: both have the same blocks and machines, and Yarn has
// Hadoop's own scheduler and MapReduce.
type Yarn struct {
	Client
	hdfs            *Cluster
	dir             string
	resourceManager *daemon
	nodeManagers    []*daemon
	starter         *procfs.Starter
	closing         sync.Once
	endTimeout      time.Duration // of a daemon with what it runs
}

// StartYarn starts YARN over a running cluster, in a folder "yarn" of its own, and returns
// when all NodeManagers have registered. The caller closes YARN before the cluster. If the
// caller ends without Close, daemons get SIGTERM.
func StartYarn(ctx context.Context, c *Cluster, cfg YarnConfig) (*Yarn, error) {
	jars, err := YarnJars(ctx)
	if err != nil {
		return nil, err
	}
	cfg.Maps = cmp.Or(cfg.Maps, 2)
	y := &Yarn{hdfs: c, Client: Client{Java{Jars: jars, HeapMiB: 256}}, dir: filepath.Join(c.cfg.Dir, "yarn"), starter: procfs.NewStarter(), endTimeout: 20 * time.Second}
	if err = y.prepare(cfg); err == nil {
		err = y.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, y.Close())
	}
	return y, nil
}

// prepare writes the configuration and lays out the daemons. The directories are writable for
// all users.
func (y *Yarn) prepare(cfg YarnConfig) error {
	home, err := javaHome()
	if err != nil {
		return err
	}
	base, err := programIn(y.dir, 0o777, y.Java, y.starter)
	if err != nil {
		return err
	}
	y.Java, base.deathSignal, base.env = base.java, syscall.SIGTERM, []string{"JAVA_HOME=" + home}
	y.resourceManager = &daemon{program: base.of("resourcemanager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")}
	for i, d := range y.hdfs.data {
		base.namespace = d.namespace
		y.nodeManagers = append(y.nodeManagers, newNodeManager(base, i, y.hdfs.Host(i), y.dir))
	}
	return WriteConf(y.Conf, y.properties(cfg))
}

// newNodeManager binds each port to the host, since all NodeManagers share the machine.
func newNodeManager(base program, i int, host, dir string) *daemon {
	return &daemon{program: base.of(fmt.Sprintf("nodemanager%d", i), "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
		"yarn.nodemanager.hostname="+host,
		"yarn.nodemanager.bind-host="+host,
		"yarn.nodemanager.address="+host+":8041",
		"yarn.nodemanager.localizer.address="+host+":8040",
		"yarn.nodemanager.webapp.address="+host+":8042",
		"yarn.nodemanager.local-dirs="+filepath.Join(dir, fmt.Sprintf("nm%d", i)),
		"yarn.nodemanager.log-dirs="+filepath.Join(dir, "logs", fmt.Sprintf("containers%d", i)),
	)}
}

// start starts the ResourceManager and then the NodeManagers, which wait for it
// long when there is none.
func (y *Yarn) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := y.resourceManager.start(); err != nil {
		return err
	}
	if err := y.await(ctx, func(ctx context.Context) error { return checkOpen(ctx, y.address("8031")) }); err != nil {
		return err
	}
	for _, d := range y.nodeManagers {
		if err := d.start(); err != nil {
			return err
		}
	}
	return y.await(ctx, y.checkRegistered)
}

// await waits for the ResourceManager and what it reports, see daemon.await.
func (y *Yarn) await(ctx context.Context, check func(context.Context) error) error {
	if err := y.resourceManager.await(ctx, check); err != nil {
		return fmt.Errorf("minihdfs: start of YARN, logs in %s: %w", y.Logs(), err)
	}
	return nil
}

// address returns the host:port of the ResourceManager at a port: 8031 is for NodeManagers, 8088
// for metrics.
func (y *Yarn) address(port string) string { return net.JoinHostPort(y.hdfs.network+".1", port) }

// checkRegistered reports why the NodeManagers may not all be given work.
func (y *Yarn) checkRegistered(ctx context.Context) error {
	var health struct{ NumActiveNMs int }
	if err := metrics(ctx, y.address("8088"), "service=ResourceManager,name=ClusterMetrics", &health); err != nil {
		return err
	}
	if health.NumActiveNMs < len(y.nodeManagers) {
		return fmt.Errorf("%d NodeManagers of %d have registered", health.NumActiveNMs, len(y.nodeManagers))
	}
	return nil
}

// Close ends YARN and what runs on it, by process id. Files stay. NodeManagers get SIGTERM,
// since a container would outlive a killed one.
func (y *Yarn) Close() error {
	var err error
	y.closing.Do(func() {
		err = syncutil.Each(y.nodeManagers, 0, func(d *daemon) error { return d.end(y.endTimeout) }) // each ends its containers first
		if y.resourceManager != nil {
			err = errors.Join(err, y.resourceManager.end(y.endTimeout))
		}
		y.starter.Close()
	})
	return err
}

// Dir returns the folder with all that YARN writes on the local disk.
func (y *Yarn) Dir() string { return y.dir }

// Logs returns the folder of the logs of daemons and tasks.
func (y *Yarn) Logs() string { return filepath.Join(y.dir, "logs") }

// History server's ports at the address of the ResourceManager.
const (
	historyWebPort = "19888"
	historyRPCPort = "10020"
	historyAdmin   = "10033"
)

// HistoryServer is Hadoop's JobHistoryServer.
type HistoryServer struct{ daemon *daemon }

// StartHistoryServer starts a JobHistoryServer and returns when it answers. It reads the histories
// in a directory of HDFS, and moves them into the directory of that name with -done; "" is the
// directory in which jobs of y leave them. The caller closes the server before YARN.
func (y *Yarn) StartHistoryServer(ctx context.Context, dir string) (*HistoryServer, error) {
	if dir == "" {
		dir = historyDir
	}
	host := y.hdfs.network + ".1"
	base := program{logs: y.Logs(), java: y.Java, starter: y.starter}
	d := &daemon{program: base.of("historyserver", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
		"mapreduce.jobhistory.address="+net.JoinHostPort(host, historyRPCPort),
		"mapreduce.jobhistory.admin.address="+net.JoinHostPort(host, historyAdmin),
		"mapreduce.jobhistory.webapp.address="+net.JoinHostPort(host, historyWebPort),
		"mapreduce.jobhistory.intermediate-done-dir="+dir,
		"mapreduce.jobhistory.done-dir="+dir+"-done",
		"mapreduce.jobhistory.move.interval-ms=500",
		"mapreduce.jobhistory.max-age-ms=9000000000000", // histories of tests may be old
	)}
	if err := d.start(); err != nil {
		return nil, err
	}
	err := d.await(ctx, func(ctx context.Context) error { return checkOpen(ctx, y.HistoryAddress()) })
	if err != nil {
		_ = d.Kill() // the first error matters
		return nil, err
	}
	return &HistoryServer{d}, nil
}

// Close ends the server.
func (h *HistoryServer) Close() error { return h.daemon.Kill() }

// HistoryAddress returns host:port of the pages of the JobHistoryServer.
func (y *Yarn) HistoryAddress() string { return y.address(historyWebPort) }

// WebAddress returns host:port of the pages of the ResourceManager.
func (y *Yarn) WebAddress() string { return y.address("8088") }
