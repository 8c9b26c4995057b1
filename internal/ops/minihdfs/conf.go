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

// log4j is the configuration of the daemons' logs: they go to the standard error.
const log4j = `log4j.rootLogger=INFO, out
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
	files := ConfFiles(c.properties())
	files["topology"] = c.topology()
	return writeFiles(c.conf, files)
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

// siteXML returns a configuration file of Hadoop. Names are sorted, so that equal properties
// give equal bytes.
func siteXML(properties map[string]string) string {
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

// mapCores are the virtual cores of a map, and other containers have one. So the cores of a
// NodeManager bound its maps, and its memory bounds all containers.
const mapCores = 1000

// Containers returns how many containers a NodeManager runs at a time that runs a number of
// maps: as many reduces, and the application master of a job.
func Containers(maps int) int { return 2*maps + 1 }

// NodeProperties are the properties of a NodeManager that runs a number of maps at a time, with
// memory for all containers in MiB.
func NodeProperties(maps, memory int) map[string]string {
	return map[string]string{
		"yarn.nodemanager.resource.memory-mb":  fmt.Sprint(memory),
		"yarn.nodemanager.resource.cpu-vcores": fmt.Sprint(maps*mapCores + Containers(maps) - maps),
	}
}

// YarnProperties are properties of all daemons and jobs of a YARN with the FairScheduler. Each
// container has the given memory in MiB: three quarters are the heap of its JVM, and a quarter,
// up to 512 MiB, is the buffer in which a map sorts. classPath is that of tasks, joined by
// commas; flags are further ones of their JVMs. Application masters request containers five
// times a second, so that little is added to tasks of seconds.
func YarnProperties(memory int, classPath, flags string) map[string]string {
	jvm := fmt.Sprintf("-Xmx%dm -XX:-UsePerfData %s", memory*3/4, flags)
	return map[string]string{
		"yarn.resourcemanager.scheduler.class":                                          "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
		"yarn.scheduler.fair.user-as-default-queue":                                     "false",
		"yarn.scheduler.minimum-allocation-mb":                                          "1",
		"yarn.scheduler.maximum-allocation-mb":                                          fmt.Sprint(1 << 24),
		"yarn.scheduler.maximum-allocation-vcores":                                      fmt.Sprint(mapCores),
		"yarn.resource-types.memory-mb.increment-allocation":                            "1",
		"yarn.nodemanager.aux-services":                                                 "mapreduce_shuffle",
		"yarn.nodemanager.disk-health-checker.enable":                                   "false",
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
		"yarn.nodemanager.pmem-check-enabled":                                           "false",
		"yarn.nodemanager.vmem-check-enabled":                                           "false",
		"yarn.nodemanager.delete.debug-delay-sec":                                       "0",
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms":                       "200",
		"yarn.application.classpath":                                                    classPath,
		"mapreduce.application.classpath":                                               classPath,
		"mapreduce.framework.name":                                                      "yarn",
		"mapreduce.shuffle.port":                                                        "0",
		"mapreduce.jobhistory.intermediate-done-dir":                                    historyDir,
		"mapreduce.jobhistory.jhist.format":                                             "json",
		"yarn.app.mapreduce.am.staging-dir":                                             "/staging",
		"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms":                         "200",
		"yarn.app.mapreduce.am.resource.mb":                                             fmt.Sprint(memory),
		"yarn.app.mapreduce.am.command-opts":                                            jvm,
		"mapreduce.map.java.opts":                                                       jvm,
		"mapreduce.reduce.java.opts":                                                    jvm,
		"mapreduce.map.memory.mb":                                                       fmt.Sprint(memory),
		"mapreduce.map.cpu.vcores":                                                      fmt.Sprint(mapCores),
		"mapreduce.reduce.memory.mb":                                                    fmt.Sprint(memory),
		"mapreduce.task.io.sort.mb":                                                     fmt.Sprint(min(memory/4, 512)),
	}
}

// taskMemory is the memory of a container in MiB.
const taskMemory = 170

// properties make tasks start fast and small.
func (y *Yarn) properties(cfg YarnConfig) map[string]string {
	p := y.hdfs.properties()
	maps.Copy(p, YarnProperties(taskMemory, y.Conf+","+filepath.Join(y.Jars, "*"), "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"))
	maps.Copy(p, NodeProperties(cfg.Maps, taskMemory*Containers(cfg.Maps)))
	maps.Copy(p, map[string]string{
		"yarn.resourcemanager.hostname":  y.hdfs.network + ".1",
		"yarn.resourcemanager.bind-host": y.hdfs.network + ".1",
		"mapreduce.task.io.sort.mb":      "8",
	})
	maps.Copy(p, cfg.Properties)
	return p
}

// historyDir is where masters leave the histories of jobs, in HDFS.
const historyDir = "/history"

// ConfFiles returns the files of a configuration for all programs: each reads its own file of it,
// after the defaults of HDFS, YARN or MapReduce.
func ConfFiles(properties map[string]string) map[string]string {
	site := siteXML(properties)
	return map[string]string{
		"core-site.xml": site, "hdfs-site.xml": site, "yarn-site.xml": site, "mapred-site.xml": site, "capacity-scheduler.xml": site, "log4j.properties": log4j,
	}
}

// WriteConf writes the files of a configuration into a directory, which it makes.
func WriteConf(dir string, properties map[string]string) error {
	return writeFiles(dir, ConfFiles(properties))
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
