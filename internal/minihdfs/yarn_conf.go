package minihdfs

import (
	"fmt"
	"maps"
	"path/filepath"
)

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
