package minihdfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// Cluster is a running HDFS. Its methods may be called by several goroutines,
// but two that change one daemon must not overlap.
//
//	test ──► minihdfs ──► NameNode   java process, 127.x.y.1
//	            │  └────► DataNodes  java processes, 127.x.y.11 …
//	            └───────► forwarder  goroutines, one a DataNode
type Cluster struct {
	cfg      Config
	network  string // "127.x.y"
	conf     string // configuration folder
	starter  *procfs.Starter
	nameNode *nameNode
	data     []*DataNode
	closing  sync.Once
}

// Start starts a cluster and returns when all its DataNodes are live, which takes about 8 s.
// If it fails, no daemon of the cluster runs. The caller calls Close; without it, the daemons
// end with the caller's process. A directory of an earlier cluster is not formatted again: its
// files are there.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	jars, err := Jars(ctx)
	if err != nil {
		return nil, err
	}
	c, err := prepare(cfg, jars)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare lays out the cluster and writes its configuration. A supervised cluster keeps its
// network over restarts, because clients have its address in their configuration.
func prepare(cfg Config, jars string) (*Cluster, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("minihdfs: %w", err)
	}
	cfg.Dir = dir
	c := &Cluster{cfg: cfg, network: cfg.Network, conf: filepath.Join(dir, "conf"), starter: procfs.NewStarter()}
	if c.network == "" {
		if c.network, err = chooseNetwork(dir, cfg.Supervisor != nil); err != nil {
			return nil, err
		}
	}
	base, err := programIn(dir, 0o755, Java{Jars: jars, HeapMiB: cfg.HeapMiB}, c.starter)
	if err != nil {
		return nil, err
	}
	c.nameNode = &nameNode{daemon{program: base.of("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode")}, c}
	for i := range cfg.DataNodes {
		c.data = append(c.data, c.newDataNode(base, i))
	}
	return c, c.writeConf()
}

// newDataNode lays out DataNode i. Each property with an address must differ between
// DataNodes, since all of them read the same configuration files.
func (c *Cluster) newDataNode(base program, i int) *DataNode {
	host := c.Host(i)
	properties := []string{
		"dfs.datanode.address=" + host + ":9866",
		"dfs.datanode.http.address=" + host + ":9864",
		"dfs.datanode.ipc.address=" + host + ":9867",
		"dfs.datanode.hostname=" + host,
		"dfs.datanode.data.dir=file://" + c.DataDir(i),
	}
	if len(c.cfg.Namespaces) > 0 {
		base.namespace = c.cfg.Namespaces[i]
	} else { // it reaches the NameNode through its forwarder
		properties = append(properties, "fs.defaultFS=hdfs://"+host+":"+rpcPort, "dfs.namenode.rpc-address="+host+":"+rpcPort)
	}
	p := base.of(fmt.Sprintf("datanode%d", i), "org.apache.hadoop.hdfs.server.datanode.DataNode", properties...)
	return &DataNode{daemon: daemon{program: p}, cluster: c, host: host}
}

// start starts the NameNode before the DataNodes, because a DataNode that finds no NameNode
// sleeps for 5 s. The bound of five minutes is for a busy machine; a start usually takes
// seconds.
func (c *Cluster) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := c.format(ctx); err != nil {
		return err
	}
	if err := c.nameNode.Restart(ctx); err != nil {
		return err
	}
	for _, d := range c.data {
		if err := d.launch(); err != nil {
			return err
		}
	}
	return c.WaitLive(ctx, len(c.data))
}

// Close ends everything that the cluster started, by process id. Its files stay. DataNodes
// end before the NameNode.
func (c *Cluster) Close() error {
	var errs []error
	c.closing.Do(func() {
		for _, d := range c.data {
			errs = append(errs, d.Kill())
			d.Partition()
		}
		errs = append(errs, c.nameNode.Kill())
		c.starter.Close()
	})
	return errors.Join(errs...)
}

// URI returns the cluster's name, "hdfs://127.x.y.1:8020".
func (c *Cluster) URI() string { return "hdfs://" + c.RPC() }

// RPC returns the host:port of the NameNode's protocol.
func (c *Cluster) RPC() string { return net.JoinHostPort(c.network+".1", rpcPort) }

// HTTP returns the host:port of WebHDFS and the NameNode's metrics.
func (c *Cluster) HTTP() string { return net.JoinHostPort(c.network+".1", httpPort) }

// Host returns the address of DataNode i. A client that dials from it is local to
// that DataNode.
func (c *Cluster) Host(i int) string { return fmt.Sprintf("%s.%d", c.network, 11+i) }

// Conf returns the configuration folder, a value for HADOOP_CONF_DIR. Programs of Hadoop and
// `hammr fs` find the cluster by it.
func (c *Cluster) Conf() string { return c.conf }

// DataNodes returns the number of DataNodes, running or not.
func (c *Cluster) DataNodes() int { return len(c.data) }

// DataDir returns the folder in which DataNode i keeps its blocks.
func (c *Cluster) DataDir(i int) string {
	return filepath.Join(c.cfg.Dir, fmt.Sprintf("dn%d", i))
}

// RunJava runs a class of HDFS to its end with the cluster's configuration and returns its
// output. See Examples for Hadoop's MapReduce programs. It waits for the end of the Java
// process.
func (c *Cluster) RunJava(ctx context.Context, class string, args ...string) ([]byte, error) {
	java := c.nameNode.java
	return java.Run(ctx, class, args...)
}

// format creates the NameNode's directory, unless the cluster has one of an earlier start. A Java process would
// need seconds for that, so all clusters of a user begin with a copy of the same empty image, which is cached with
// the jars. They differ by their addresses: no DataNode finds the NameNode of another cluster.
func (c *Cluster) format(ctx context.Context) error {
	dir := filepath.Join(c.cfg.Dir, "nn")
	if isDir(dir) {
		return nil
	}
	cached := c.cachedImage()
	if isDir(cached) {
		return copyImage(dir, cached)
	}
	if err := c.nameNode.runOnce(ctx, "-format", "-force", "-nonInteractive"); err != nil {
		return err
	}
	if cached != "" {
		_ = copyImage(cached, dir) // the next cluster is formatted too
	}
	return nil
}

// cachedImage returns the directory of the cached image, which need not exist. It is "" for a cluster that may need
// another image, because its jars are the caller's.
func (c *Cluster) cachedImage() string {
	cache, err := cacheDir()
	if err != nil || os.Getenv(JarsEnv) != "" {
		return ""
	}
	return filepath.Join(cache, "formatted")
}

// copyImage copies a directory. Other processes may do it at the same time: a directory that exists is complete.
func copyImage(to, from string) error {
	temp, err := os.MkdirTemp(filepath.Dir(to), "format-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	whole := filepath.Join(temp, "nn")
	if err := os.CopyFS(whole, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Rename(whole, to); err != nil && !isDir(to) {
		return errors.Join(errors.New("minihdfs: copy of an empty image"), err)
	}
	return nil
}
