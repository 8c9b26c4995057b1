package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	orders "github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/netns"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/sched/registry"
)

// Config is a cluster to start.
//
// With links each machine has a network namespace with its tasknode and DataNode; masters
// and the NameNode stay in this process's namespace.
type Config struct {
	Hammr string // file of the hammr program
	Dir   string // of the cluster; Start creates it and Stop removes it

	Masters                          int // 0 is 1
	Tasknodes, MapSlots, ReduceSlots int // slots are each tasknode's, at least 1 of each

	Policy string            // the policy that assigns slots; "" for the cluster's default
	Conf   map[string]string // settings of the policy
	Pools  []string          // of jobs, in addition to default

	Expiry time.Duration // silence after which a tasknode is lost; 0 for the default

	// HDFS has a DataNode for each tasknode. The DataNode has the tasknode's address and
	// fails with it. nil is no HDFS.
	HDFS *minihdfs.Cluster

	links *links // of machines and of HDFS; nil for the loopback device

	// Testbed has the machines; nil is this machine. On a Testbed Dir, HDFS and links do not count:
	// each machine has a directory there, and an HDFS of the testbed has a DataNode beside each
	// tasknode.
	Testbed *Testbed

	Yarn   bool              // the machines of the Testbed have a YARN on their HDFS too
	Hadoop map[string]string // properties of HDFS and YARN on the Testbed
}

// Cluster is a running cluster that runs plans. A Cluster runs one plan at a time.
type Cluster struct {
	*testcluster.Cluster
	owned     bool                // Stop ends the cluster
	hdfs      *minihdfs.Cluster   // nil for none, and on a Testbed
	ssh       *sshcluster.Cluster // on a Testbed; else nil
	tasknodes []string            // names, by number of the machine
	histories string              // full name of the directory of histories
	files     string              // full name of a directory for input and output of jobs
	conf      string              // HADOOP_CONF_DIR of programs that use the cluster; "" for that of this process
	silence   time.Duration       // after which a tasknode is certainly lost
}

// stopTimeout bounds the end of a cluster on a Testbed.
const stopTimeout = 5 * time.Minute

// Start starts a cluster. The caller calls Stop. Start sets the policy by a call to the
// master, because a flag could not pass the policy's settings.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	start := startLocal
	if cfg.Testbed != nil {
		start = cfg.Testbed.start
	}
	c, err := start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c.silence = cmp.Or(cfg.Expiry, conf.New().Duration(conf.TasknodeExpiry)) + time.Second
	if cfg.Policy != "" {
		if err := c.SetPolicy(ctx, cfg.Policy, cfg.Conf); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	return c, nil
}

// startLocal starts a cluster of processes of this machine.
func startLocal(ctx context.Context, cfg Config) (*Cluster, error) {
	tc := testcluster.Config{
		Hammr: cfg.Hammr, Expiry: cfg.Expiry, Pools: cfg.Pools,
		Config: localcluster.Config{Dir: cfg.Dir, Masters: cfg.Masters, Tasknodes: cfg.Tasknodes, MapSlots: max(cfg.MapSlots, 1), ReduceSlots: max(cfg.ReduceSlots, 1)},
	}
	if cfg.HDFS != nil {
		for i := range cfg.Tasknodes {
			tc.Addresses = append(tc.Addresses, cfg.HDFS.Host(i))
		}
	}
	if cfg.links != nil {
		tc.Namespaces, tc.MasterHosts = cfg.links.namespaces, []string{masterHost}
	}
	cluster, err := testcluster.Start(ctx, tc)
	if err != nil {
		return nil, fmt.Errorf("cluster in %s: %w", cfg.Dir, errors.Join(err, os.RemoveAll(cfg.Dir)))
	}
	return newCluster(cluster, true, cfg.HDFS), nil
}

// newCluster returns a cluster of this machine.
func newCluster(cluster *testcluster.Cluster, owned bool, hdfs *minihdfs.Cluster) *Cluster {
	c := &Cluster{Cluster: cluster, owned: owned, hdfs: hdfs, histories: "file://" + cluster.Histories(), files: "file://" + cluster.Dir()}
	_, c.tasknodes = c.Names()
	return c
}

// Program returns the program that runs commands of hammr on this cluster.
func (c *Cluster) Program() testcluster.Program {
	p := c.Cluster.Program()
	if c.conf != "" {
		p.Environ = append(p.Environ, "HADOOP_CONF_DIR="+c.conf)
	}
	return p
}

// Yarn returns a client of the cluster's YARN, see Config.Yarn. Its Conf is a value of
// HADOOP_CONF_DIR for other clients.
func (c *Cluster) Yarn(ctx context.Context) (*minihdfs.Client, error) {
	jars, err := minihdfs.YarnJars(ctx)
	return &minihdfs.Client{Java: minihdfs.Java{Jars: jars, Conf: c.conf}}, err
}

// YarnMemory returns the memory for containers of each machine of a Testbed in MiB, of the smallest.
func (c *Cluster) YarnMemory() (least int) {
	for _, h := range c.ssh.Plan().Hosts {
		if slices.Contains(h.Roles(), hostfile.NodeManager) && (least == 0 || h.YarnMemory < least) {
			least = h.YarnMemory
		}
	}
	return least
}

// Files returns the full name of a directory for input and output of jobs.
func (c *Cluster) Files() string { return c.files }

// Stop ends a cluster that Start has started, and removes its directory. Histories and logs
// are in that directory, so Run keeps them before Stop.
func (c *Cluster) Stop() error {
	if c.ssh != nil {
		return c.stopOnHosts()
	}
	err := c.Close()
	if c.owned {
		err = errors.Join(err, os.RemoveAll(c.Dir()))
	}
	return err
}

// put makes a file of this machine readable for the tasks of the cluster, and returns its full name.
func (c *Cluster) put(ctx context.Context, file string) (uri string, err error) {
	if c.ssh == nil {
		return "file://" + file, nil
	}
	uri = c.files + "/" + filepath.Base(file)
	_, err = c.Program().Run(ctx, "fs", "-put", "-f", file, uri)
	return uri, err
}

// SetPolicy sets the policy that assigns slots. Allocations are sent as text, so no file
// has to exist on the master's machine.
func (c *Cluster) SetPolicy(ctx context.Context, policy string, conf map[string]string) error {
	if _, hasContent := conf[registry.Allocations]; hasContent {
		conf = maps.Clone(conf)
		conf[registry.AllocationFile] = filepath.Join(c.Dir(), "fair-scheduler.xml") // a name for error messages
	}
	return orders.SetPolicy(ctx, c.Client(), policy, conf)
}

// tasknodeName returns the name of the i-th tasknode, from 0.
func tasknodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

var poolElement = pattern.New(`<pool name="([^"]+)"`)

// poolsOf returns the pools of a policy's allocation file. The cluster needs their names,
// since masters refuse jobs of unknown pools.
func poolsOf(conf map[string]string) (names []string) {
	for _, found := range poolElement().FindAllStringSubmatch(conf[registry.Allocations], -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// links give each machine of a cluster, with its tasknode and its DataNode, a network of its
// own and a link with a rate in Mbit/s for both directions. Masters, the NameNode and
// clients are in this process's network, behind no link. Links are limited by a token bucket
// in each direction (tc).
type links struct {
	bridge     *netns.Bridge
	namespaces []string // of machines, which have the same names
	mbits      int
}

// linksNetwork is the first three numbers of all addresses. minihdfs chooses the addresses
// of DataNodes, and a tasknode shares the address of its DataNode.
const linksNetwork = "10.77.0"

// masterHost is the address of this process's network.
const masterHost = linksNetwork + ".1"

// newLinks needs the right to create network namespaces.
func newLinks(machines, mbits int) (*links, error) {
	bridge, err := netns.New("machines", masterHost)
	if err != nil {
		return nil, fmt.Errorf("links of machines: %w", err)
	}
	l := &links{bridge: bridge, mbits: mbits}
	for i := range machines {
		l.namespaces = append(l.namespaces, tasknodeName(i))
		if err := bridge.AddMachine(tasknodeName(i), fmt.Sprintf("%s.%d", linksNetwork, 11+i)); err != nil {
			return nil, errors.Join(err, bridge.Remove())
		}
	}
	return l, nil
}

// limit sets the rate of all links; 0 is no limit.
func (l *links) limit(mbits int) (err error) {
	for _, machine := range l.namespaces {
		err = errors.Join(err, l.bridge.LimitRate(machine, mbits))
	}
	return err
}
