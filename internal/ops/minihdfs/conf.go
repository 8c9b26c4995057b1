package minihdfs

import (
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	rpcPort  = "8020"
	httpPort = "9870"
)

// Log4j is the configuration of the daemons' logs: they go to the standard error.
const Log4j = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
`

// properties makes HDFS notice faults in seconds instead of minutes: a silent DataNode is
// stale after 3 s and dead after 12 s. Load is ignored: with so few DataNodes a busy one
// would often be missing from a pipeline. The edit log is not synced to disk, so only a
// crash of the machine loses entries. Config.Properties are added last, so they override
// all of these.
func (c *Cluster) properties() map[string]string {
	host := c.network + ".1"
	p := map[string]string{
		"fs.defaultFS":                                         c.URI(),
		"dfs.namenode.rpc-address":                             host + ":" + rpcPort,
		"dfs.namenode.http-address":                            host + ":" + httpPort,
		"dfs.namenode.name.dir":                                "file://" + filepath.Join(c.cfg.Dir, "nn"),
		"dfs.replication":                                      fmt.Sprint(c.cfg.Replication),
		"dfs.blocksize":                                        fmt.Sprint(c.cfg.BlockSize),
		"dfs.namenode.fs-limits.min-block-size":                "512",
		"dfs.heartbeat.interval":                               "1s",
		"dfs.namenode.heartbeat.recheck-interval":              "1000",
		"dfs.namenode.stale.datanode.interval":                 "3000",
		"dfs.namenode.avoid.read.stale.datanode":               "true",
		"dfs.namenode.avoid.write.stale.datanode":              "true",
		"dfs.namenode.redundancy.interval.seconds":             "1s",
		"dfs.namenode.redundancy.considerLoad":                 "false",
		"dfs.namenode.safemode.extension":                      "0",
		"dfs.namenode.edits.noeditlogchannelflush":             "true",
		"dfs.permissions.enabled":                              "false",
		"net.topology.node.switch.mapping.impl":                "org.apache.hadoop.net.TableMapping",
		"net.topology.table.file.name":                         filepath.Join(c.conf, "topology"),
		"hadoop.tmp.dir":                                       filepath.Join(c.cfg.Dir, "tmp"),
		"dfs.namenode.replication.max-streams":                 "20",
		"dfs.namenode.datanode.registration.ip-hostname-check": "false",
	}
	maps.Copy(p, c.cfg.Properties)
	return p
}

// writeConf writes the configuration folder, for the daemons and for clients with
// HADOOP_CONF_DIR. The jars lack Hadoop's web pages; empty folders make HTTP work without
// them. Each DataNode gets what differs from the others on its command line, since all
// daemons read these files.
func (c *Cluster) writeConf() error {
	for _, app := range []string{"hdfs", "datanode", "static"} {
		if err := os.MkdirAll(filepath.Join(c.conf, "webapps", app), 0o755); err != nil {
			return fmt.Errorf("minihdfs: configuration: %w", err)
		}
	}
	site := SiteXML(c.properties())
	return writeFiles(c.conf, map[string]string{
		"core-site.xml":    site, // read by every program
		"hdfs-site.xml":    site, // HDFS reads its own defaults after core-site, and then this
		"log4j.properties": Log4j,
		"topology":         c.topology(),
	})
}

// writeFiles writes the files of a configuration into a folder, which it makes.
func writeFiles(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("minihdfs: configuration: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("minihdfs: configuration: %w", err)
		}
	}
	return nil
}

// topology returns a file for Hadoop's TableMapping: "address rack" a line.
func (c *Cluster) topology() string {
	var b strings.Builder
	for i, rack := range c.cfg.Racks {
		fmt.Fprintf(&b, "%s %s\n", c.Host(i), rack)
	}
	return b.String()
}

// SiteXML returns a configuration file of Hadoop. Names are sorted, so that equal properties
// give equal bytes.
func SiteXML(properties map[string]string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b.WriteString("  <property><name>" + name + "</name><value>")
		xml.EscapeText(&b, []byte(properties[name])) // a Builder never fails
		b.WriteString("</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

// Memory that YARN counts for tasks, in MiB. Maps and reduces use less of the machine.
const (
	mapMemory    = 1024
	reduceMemory = 256
	masterMemory = 256
)

// taskJVM makes tasks start fast and small.
const taskJVM = "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"

// properties give a NodeManager memory for the given number of maps, as many reduces, and a
// job's application master. Application masters request containers five times a second, so
// that little is added to tasks of seconds.
func (y *Yarn) properties(cfg YarnConfig) map[string]string {
	p := y.hdfs.properties()
	jars := filepath.Join(y.jars, "*")
	maps.Copy(p, map[string]string{
		"yarn.resourcemanager.hostname":                                                 y.hdfs.network + ".1",
		"yarn.resourcemanager.bind-host":                                                y.hdfs.network + ".1",
		"yarn.resourcemanager.scheduler.class":                                          "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
		"yarn.scheduler.fair.user-as-default-queue":                                     "false",
		"yarn.scheduler.minimum-allocation-mb":                                          fmt.Sprint(reduceMemory),
		"yarn.resource-types.memory-mb.increment-allocation":                            fmt.Sprint(reduceMemory),
		"yarn.nodemanager.resource.memory-mb":                                           fmt.Sprint(cfg.Maps*(mapMemory+reduceMemory) + masterMemory),
		"yarn.nodemanager.resource.cpu-vcores":                                          "64",
		"yarn.nodemanager.aux-services":                                                 "mapreduce_shuffle",
		"yarn.nodemanager.disk-health-checker.enable":                                   "false",
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
		"yarn.nodemanager.pmem-check-enabled":                                           "false",
		"yarn.nodemanager.vmem-check-enabled":                                           "false",
		"yarn.nodemanager.delete.debug-delay-sec":                                       "0",
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":                       "200",
		"yarn.application.classpath":                                                    y.java.Conf + "," + jars,
		"mapreduce.application.classpath":                                               y.java.Conf + "," + jars,
		"mapreduce.framework.name":                                                      "yarn",
		"mapreduce.shuffle.port":                                                        "0",
		"mapreduce.jobhistory.intermediate-done-dir":                                    historyDir,
		"mapreduce.jobhistory.jhist.format":                                             "json",
		"yarn.app.mapreduce.am.staging-dir":                                             "/staging",
		"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms":                         "200",
		"yarn.app.mapreduce.am.resource.mb":                                             fmt.Sprint(masterMemory),
		"yarn.app.mapreduce.am.command-opts":                                            taskJVM,
		"mapreduce.map.memory.mb":                                                       fmt.Sprint(mapMemory),
		"mapreduce.map.java.opts":                                                       taskJVM,
		"mapreduce.reduce.memory.mb":                                                    fmt.Sprint(reduceMemory),
		"mapreduce.reduce.java.opts":                                                    taskJVM,
		"mapreduce.task.io.sort.mb":                                                     "8",
	})
	maps.Copy(p, cfg.Properties)
	return p
}

// historyDir is where masters leave the histories of jobs, in HDFS.
const historyDir = "/history"

// writeConf writes one configuration for all: each program reads its own file of it.
func (y *Yarn) writeConf(cfg YarnConfig) error {
	site := SiteXML(y.properties(cfg))
	return writeFiles(y.java.Conf, map[string]string{
		"core-site.xml": site, "hdfs-site.xml": site, "yarn-site.xml": site, "mapred-site.xml": site, "capacity-scheduler.xml": site, "log4j.properties": Log4j,
	})
}

// javaHome returns the folder of the daemons' Java; tasks use the same Java.
func javaHome() (string, error) {
	java, err := findJava()
	if err == nil {
		java, err = filepath.EvalSymlinks(java)
	}
	if err != nil {
		return "", fmt.Errorf("minihdfs: Java for tasks: %w", err)
	}
	return filepath.Dir(filepath.Dir(java)), nil
}
