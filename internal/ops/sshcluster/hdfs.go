package sshcluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// hadoopRoles are the roles of HDFS and YARN in the order of their start.
var hadoopRoles = []string{hostfile.NameNode, hostfile.DataNode, hostfile.ResourceManager, hostfile.NodeManager}

// hadoopSystems are HDFS and YARN: the option of hostfiles, the role of the master, which is on one
// machine or on none, and the role beside each tasknode.
var hadoopSystems = [][3]string{{hostfile.HDFS, hostfile.NameNode, hostfile.DataNode}, {hostfile.Yarn, hostfile.ResourceManager, hostfile.NodeManager}}

// chooseHadoop gives roles of HDFS and YARN to machines if the hostfile wants them.
func (p *Plan) chooseHadoop(f hostfile.File) {
	for _, s := range hadoopSystems {
		if f.Cluster[s[0]] != "true" {
			continue
		}
		if p.count(s[1]) == 0 {
			p.Hosts[0].hadoop[s[1]] = true
		}
		for _, h := range p.Hosts {
			h.hadoop[s[2]] = h.hadoop[s[2]] || h.Tasknode
		}
	}
	if p.nameNode() != nil && p.Staging == "" {
		p.Staging = p.FileSystem() + "/hammr/staging"
	}
}

// nameNode returns the host of the NameNode, nil if the cluster has no HDFS of its own.
func (p *Plan) nameNode() *Host {
	return p.find(func(h *Host) bool { return h.has(hostfile.NameNode) })
}

// FileSystem returns the name of the cluster's own HDFS, "" if it has none.
func (p *Plan) FileSystem() string {
	h := p.nameNode()
	if h == nil {
		return ""
	}
	return "hdfs://" + h.address(hostfile.NameNode)
}

// leastTaskMemory is enough for the JVM of a small task of YARN, in MiB.
const leastTaskMemory = 128

// validateHadoop reports wrong numbers of daemons of HDFS and YARN, and what they lack.
func (p *Plan) validateHadoop() error {
	var errs []error
	for _, s := range hadoopSystems {
		switch masters, others := p.count(s[1]), p.count(s[2]); {
		case masters > 1:
			errs = append(errs, fmt.Errorf("%d machines have the role %s; write it on one line only", masters, s[1]))
		case masters == 1 && others == 0:
			errs = append(errs, fmt.Errorf("no machine has the role %s; write it on some lines", s[2]))
		case masters == 0 && others > 0:
			errs = append(errs, fmt.Errorf("machines have the role %s and none has the role %s; write it on a line", s[2], s[1]))
		}
	}
	if p.nameNode() != nil && p.HadoopConf != "" {
		errs = append(errs, errors.New("hadoop-conf names the configuration of another HDFS; leave it out for an HDFS of the cluster's own"))
	}
	if p.resourceManager() != nil && p.nameNode() == nil {
		errs = append(errs, errors.New("YARN needs an HDFS of the cluster's own; give --with-hdfs, or write hdfs=true on a line with a star"))
	}
	if memory := p.taskMemory(); memory < leastTaskMemory {
		errs = append(errs, fmt.Errorf("a task of YARN would have %d MiB of memory and needs %d; give the machines fewer slots= or more yarn-memory=", memory, leastTaskMemory))
	}
	return errors.Join(errs...)
}

// confDir returns the value of HADOOP_CONF_DIR of the daemons of a host, "" for none.
func (p *Plan) confDir(h *Host) string {
	if p.nameNode() == nil || h.Dir == "" {
		return p.HadoopConf
	}
	return path.Join(h.Dir, "hadoop/conf")
}

// clientProperties are properties for all programs that use the cluster's HDFS and YARN.
// DataNodes are reached by the addresses of the hostfile: a machine may have others that are not
// reached.
func (p *Plan) clientProperties() map[string]string {
	properties := map[string]string{
		"fs.defaultFS":                         p.FileSystem(),
		"dfs.client.use.datanode.hostname":     "true",
		"dfs.datanode.use.datanode.hostname":   "true",
		"dfs.replication":                      strconv.Itoa(min(3, p.count(hostfile.DataNode))),
		"dfs.namenode.rpc-address":             p.nameNode().address(hostfile.NameNode),
		"dfs.namenode.http-address":            join(p.nameNode().Address, p.nameNode().Port+nameNodePagePort),
		"dfs.permissions.enabled":              "false",
		"dfs.namenode.safemode.extension":      "0",
		"dfs.namenode.redundancy.considerLoad": "false",

		"dfs.namenode.datanode.registration.ip-hostname-check": "false",
	}
	maps.Copy(properties, p.yarnProperties())
	maps.Copy(properties, p.hadoop)
	return properties
}

// hostProperties are the properties of the daemons of HDFS and YARN on a host.
func (p *Plan) hostProperties(h *Host) map[string]string {
	properties := p.clientProperties()
	listen := h.Listen
	if listen == "" {
		listen = "0.0.0.0"
	}
	data := path.Join(h.Dir, "hadoop")
	maps.Copy(properties, p.nodeProperties(h, listen))
	maps.Copy(properties, map[string]string{
		"hadoop.tmp.dir":              path.Join(data, "tmp"),
		"dfs.namenode.name.dir":       "file://" + path.Join(data, "namenode"),
		"dfs.namenode.rpc-bind-host":  listen,
		"dfs.namenode.http-bind-host": listen,
		"dfs.datanode.data.dir":       "file://" + path.Join(data, "datanode"),
		"dfs.datanode.hostname":       h.Address,
		"dfs.datanode.address":        join(listen, h.Port+dataNodePort),
		"dfs.datanode.http.address":   join(listen, h.Port+dataNodePagePort),
		"dfs.datanode.ipc.address":    join(listen, h.Port+dataNodeCallPort),
	})
	maps.Copy(properties, p.hadoop)
	return properties
}

// installHadoop copies Hadoop's jars to a host, and returns the calls that store the
// configuration. Daemons that run keep theirs.
func (c *Cluster) installHadoop(ctx context.Context, h *Host, s *survey) (calls []string, err error) {
	if c.plan.nameNode() == nil {
		return nil, nil
	}
	if len(h.among(hadoopRoles)) > 0 {
		jars, err := c.hadoopJars(ctx)
		if err != nil {
			return nil, err
		}
		if s.jars[c.plan.jarSet()] != jars.hash {
			if err := c.sendJars(ctx, h, jars); err != nil {
				return nil, err
			}
		}
	}
	calls = []string{"make_conf"}
	files := minihdfs.ConfFiles(c.plan.hostProperties(h))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		calls = append(calls, putCall(`"$conf/`+name+`"`, "644", files[name]))
	}
	return calls, nil
}

// WriteClientConf writes a configuration directory for programs of this machine that use the
// cluster's HDFS and YARN.
func (p *Plan) WriteClientConf(dir string) error {
	return minihdfs.WriteConf(dir, p.clientProperties())
}

// Sets of jars, which are names of directories on a machine. A machine may have both, since
// experiments have a YARN and have none in turn.
const (
	hdfsJars = "jars"
	yarnJars = "yarn-jars"
)

// jarSet returns the set of jars of the plan. That of YARN includes HDFS.
func (p *Plan) jarSet() string {
	if p.resourceManager() != nil {
		return yarnJars
	}
	return hdfsJars
}

// jarArchive are Hadoop's jars for the machines.
type jarArchive struct {
	hash       string // SHA-256 of the archive before it is compressed
	compressed []byte
}

// hadoopJars returns the jars of the plan, which are fetched if this machine does not have them.
// It is called by several goroutines.
func (c *Cluster) hadoopJars(ctx context.Context) (*jarArchive, error) {
	c.jars.Lock()
	defer c.jars.Unlock()
	if c.jars.archive != nil {
		return c.jars.archive, nil
	}
	fetch := minihdfs.Jars
	if c.plan.jarSet() == yarnJars {
		fetch = minihdfs.YarnJars
	}
	dir, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	c.jars.archive, err = archiveJars(dir)
	return c.jars.archive, err
}

// archiveJars returns an archive that depends on the names and the contents of jars only. Jars
// are compressed themselves.
func archiveJars(dir string) (*jarArchive, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	w := tar.NewWriter(io.MultiWriter(sum, z))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.Base(file), Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return &jarArchive{hex.EncodeToString(sum.Sum(nil)), b.Bytes()}, nil
}

// sendJars copies the jars to a host.
func (c *Cluster) sendJars(ctx context.Context, h *Host, jars *jarArchive) error {
	err := c.feed(ctx, h, "receive_jars "+c.plan.jarSet()+" "+jars.hash, "jars.tar.gz", func() (io.Reader, error) { return bytes.NewReader(jars.compressed), nil })
	if err == nil && c.cfg.DryRun == nil {
		c.cfg.Progress(h.Name, fmt.Sprintf("copied Hadoop's jars, %d MiB", len(jars.compressed)>>20))
	}
	return err
}

// classes are the programs of the daemons of HDFS and YARN.
var classes = map[string]string{
	hostfile.NameNode:        "org.apache.hadoop.hdfs.server.namenode.NameNode",
	hostfile.DataNode:        "org.apache.hadoop.hdfs.server.datanode.DataNode",
	hostfile.ResourceManager: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
	hostfile.NodeManager:     "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
}

// launchCall returns the call that starts a daemon.
func (p *Plan) launchCall(role string) string {
	if class, ok := classes[role]; ok {
		return "launch_hadoop " + p.jarSet() + " " + role + " " + class + " " + strings.Join(minihdfs.JavaFlags(), " ")
	}
	return "launch " + role
}
