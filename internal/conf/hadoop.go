package conf

import (
	"slices"
	"strings"
)

// All properties of Hadoop's mapred-default.xml, core-default.xml and hdfs-default.xml are read
// (keys.go), refused or harmless (here). A new one is classified by what its users would miss:
//
//	results or protection that they asked for   refused: the job would be wrong without a word
//	something that shows, or that Java needs    ignored, with a warning if the user typed it
//	nothing                                     harmless, with the reason
//
// TestHadoopIsClassified compares this with Hadoop's own files.

// refusedKeys are properties that would change results, or protect data or machines. Their defaults
// are Hadoop's, and are accepted.
var refusedKeys = []Key{
	refused("mapreduce.job.map.class", Class, "", inProgram, "mapred.mapper.class"),
	refused("mapreduce.job.combine.class", Class, "", inProgram, "mapred.combiner.class"),
	refused("mapreduce.job.reduce.class", Class, "", inProgram, "mapred.reducer.class"),
	refused("mapreduce.job.inputformat.class", Class, "", inProgram, "mapred.input.format.class"),
	refused("mapreduce.job.outputformat.class", Class, "", inProgram, "mapred.output.format.class"),
	refused("mapreduce.job.output.key.class", Class, "", inProgram, "mapred.output.key.class"),
	refused("mapreduce.job.output.value.class", Class, "", inProgram, "mapred.output.value.class"),
	refused("mapreduce.map.output.key.class", Class, "", inProgram, "mapred.mapoutput.key.class"),
	refused("mapreduce.map.output.value.class", Class, "", inProgram, "mapred.mapoutput.value.class"),
	refused("mapreduce.job.partitioner.class", Class, "", "a program sets its partitioner with Partition, GroupFirst or TotalOrder", "mapred.partitioner.class"),
	refused("mapreduce.partition.keypartitioner.options", String, "", "a program sets its partitioner with Partition", "mapred.text.key.partitioner.options"),
	refused("mapreduce.partition.keycomparator.options", String, "", keyOrder, "mapred.text.key.comparator.options"),
	refused("mapreduce.totalorderpartitioner.path", String, "", "a program with TotalOrder samples its input itself", "total.order.partitioner.path"),
	refused("mapreduce.job.output.key.comparator.class", Class, "", keyOrder, "mapred.output.key.comparator.class"),
	refused("mapreduce.job.output.group.comparator.class", Class, "", "a program groups by the first part of its keys with GroupFirst", "mapred.output.value.groupfn.class"),
	refused("mapreduce.job.combiner.group.comparator.class", Class, "", "a combiner gets the values of equal keys"),
	refused("mapreduce.input.pathFilter.class", Class, "", "name the input files by a glob", "mapred.input.pathFilter.class"),
	refused("mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs", Bool, "false", "a directory among the input is an error; name the input files by a glob"),
	refused("mapreduce.output.basename", String, "part", "the files of the main output are called part-…; rename them after the job"),
	refused("mapreduce.map.failures.maxpercent", Int, "0", "a job whose task fails has failed; mapreduce.map.skip.maxrecords leaves out bad records", "mapred.max.map.failures.percent"),
	refused("mapreduce.reduce.failures.maxpercent", Int, "0", "a job whose task fails has failed", "mapred.max.reduce.failures.percent"),
	refused("mapreduce.reduce.skip.maxgroups", Int, "0", "groups of a reduce cannot be skipped", "mapred.skip.reduce.max.skip.groups"),
	refused("mapreduce.job.skip.outdir", String, "", "skipped records are not written; the logs of the tasks name them", "mapred.skip.out.dir"),
	refused("mapreduce.job.encrypted-intermediate-data", Bool, "false", "map output lies unencrypted on local disks; encrypt the disks"),
	refused("mapreduce.job.cache.archives", List, "", "archives are not unpacked; name the files with -files", "mapred.cache.archives", "tmparchives"),
	refused("mapreduce.job.running.map.limit", Int, "0", "the running tasks of a job are not limited; put it into a pool with maxMaps"),
	refused("mapreduce.job.running.reduce.limit", Int, "0", "the running tasks of a job are not limited; put it into a pool with maxReduces"),
	refused("mapreduce.job.max.map", Int, "-1", "maps of a job are not limited by the job; hammr.limits.splits of the masters limits them"),
	refused("mapreduce.job.local-fs.single-disk-limit.bytes", Int, "-1", "set hammr.job.local.disk.limit"),
	refused("mapreduce.task.local-fs.write-limit.bytes", Int, "-1", "set hammr.job.local.disk.limit"),
	refused("mapreduce.job.node-label-expression", String, "", noLabels),
	refused("mapreduce.map.node-label-expression", String, "", noLabels),
	refused("mapreduce.reduce.node-label-expression", String, "", noLabels),
}

// Reasons of several refused properties.
const (
	inProgram = "programs choose it in their code"
	keyOrder  = "keys are ordered by their encoding; a program chooses one with KeyCodec"
	noLabels  = "machines have no labels"
)

// refused declares a property that is refused unless it has Hadoop's default.
func refused(name string, kind Kind, def, why string, aliases ...string) Key {
	return key(name, kind, def, "refused: "+why).unsupported(why).renames(aliases...)
}

// ignoredKeys have no effect, which a user who typed one should know. Sites set some of them for
// programs in Java, so those of a site's files give no warning, except those of fairScheduler.
var ignoredKeys = []Key{
	ignored("mapred.child.java.opts", "", "tasks are no Java programs; mapreduce.map.memory.mb sets their memory"),
	ignored("mapreduce.map.java.opts", "", "tasks are no Java programs; mapreduce.map.memory.mb sets their memory"),
	ignored("mapreduce.reduce.java.opts", "", "tasks are no Java programs; mapreduce.reduce.memory.mb sets their memory"),
	ignored("mapred.child.env", "", noEnvironment),
	ignored("mapreduce.map.env", "", noEnvironment),
	ignored("mapreduce.reduce.env", "", noEnvironment),
	ignored("mapreduce.cluster.acls.enabled", "false", "everyone who has the cluster's token may see and change every job"),
	ignored("mapreduce.task.profile", "false", "'hammr job profile' takes profiles"),
	ignored("mapreduce.job.end-notification.custom-notifier-class", "", "a master fetches the URL itself"),
	ignored("mapreduce.job.dfs.storage.capacity.kill-limit-exceed", "false", "set a quota on HDFS"),
	ignored("mapreduce.task.spill.files.count.limit", "-1", "the spills of a task are not limited"),
	ignored("fs.permissions.umask-mode", "022", "new files on HDFS have mode 0644, directories 0755"),
	ignored(fairScheduler+"eventlog.enabled", "false", "masters write scheduling decisions to their --decisions-file"),
	ignored(fairScheduler+"taskselector", "org.apache.hadoop.mapred.DefaultTaskSelector", "hammr.job.placement, or the setting hammr.scheduler.placement of the policy, says how tasks get machines"),
	ignored(fairScheduler+"loadmanager", "org.apache.hadoop.mapred.CapBasedLoadManager", "the setting mapred.fairscheduler.load.max.diff of policy fair says how full machines may be"),
	ignored(fairScheduler+"weightadjuster", "", "NewJobWeightBooster is the setting mapred.fairscheduler.newjobboost=true of policy fair; other classes have no counterpart"),
}

// fairScheduler begins the names of Hadoop's fair scheduler. A cluster's administrator sets them in a
// site's file, so those that are ignored give a warning there too.
const fairScheduler = "mapred.fairscheduler."

const noEnvironment = "tasks get their environment from their tasknode; pass values as properties"

// ignored declares a property without an effect.
func ignored(name, def, why string) Key {
	return key(name, String, def, "ignored: "+why).ignored("is ignored: " + why)
}

// harmless are properties that Hammr accepts and does not read, by the reason why no user misses
// anything. A name that ends in a dot stands for all that begin with it.
var harmless = []struct{ why, names string }{
	{"Hammr's policies, Hadoop's scheduler and bundled programs read them", `mapred.fairscheduler. mapred.hfsp-scheduler.
		mapred.newjobweightbooster. mapreduce.terasort. mapreduce.randomwriter. mapreduce.randomtextwriter. mapreduce.sleepjob.`},
	{"YARN and its daemons; Hammr's masters and tasknodes have settings of their own", `yarn. mapreduce.jobhistory. mapreduce.am.
		mapreduce.job.am. mapreduce.shuffle. mapreduce.app-submission. mapreduce.application. mapreduce.job.ubertask.
		mapreduce.job.emit-timeline-data mapreduce.job.sharedcache. mapreduce.admin. mapreduce.job.log4j-properties-file
		mapreduce.job.reducer. mapreduce.job.finish-when-all-reducers-done mapreduce.jobtracker. mapreduce.tasktracker.`},
	{"classes and options of Java", `mapreduce.job.classloader mapreduce.job.classloader.system.classes mapreduce.jvm.
		mapreduce.job.heap.memory-mb.ratio mapreduce.client.libjars.wildcard mapreduce.task.profile. mapreduce.job.jar map.sort.class
		mapreduce.job.map.output.collector.class mapreduce.job.reduce.shuffle.consumer.plugin.class io.serializations`},
	{"how fast: sizes, threads and times of parts that Hammr builds otherwise", `mapreduce.job.max.split.locations
		mapreduce.job.split.metainfo.maxsize mapreduce.reduce.shuffle.fetch.retry. mapreduce.reduce.markreset.buffer.percent
		mapreduce.ifile. mapreduce.input.fileinputformat.list-status.num-threads mapreduce.client.submit.file.replication
		mapreduce.client.completion.pollinterval mapreduce.task.merge.progress.records mapreduce.task.combine.progress.records
		mapreduce.task.stuck.timeout-ms mapreduce.task.ping-for-liveliness-check.enabled mapreduce.task.exit.timeout
		mapreduce.task.exit.timeout.check-interval-ms mapreduce.job.speculative. mapreduce.map.cpu.vcores mapreduce.reduce.cpu.vcores
		mapreduce.input.fileinputformat.split.minsize.per.node mapreduce.input.fileinputformat.split.minsize.per.rack
		mapreduce.job.cache.limit. mapreduce.task.skip.start.attempts mapreduce.map.skip.proc-count.auto-incr
		mapreduce.reduce.skip.proc-count.auto-incr mapreduce.job.local-fs.single-disk-limit.check. io.seqfile. io.map. io.mapfile.
		io.bytes.per.checksum io.erasurecode. io.compression. file. ftp. seq.io. tfile. rpc. ipc. mapreduce.job.encrypted-intermediate-data-key-size-bits
		mapreduce.job.encrypted-intermediate-data.buffer.kb`},
	{"Hammr writes its own logs and keeps no files of failed tasks", `mapreduce.map.log.level mapreduce.reduce.log.level
		mapreduce.task.userlog.limit.kb mapreduce.task.files.preserve.failedtasks`},
	{"output is committed once, as a whole, by the master", `mapreduce.outputcommitter. mapreduce.job.committer.
		mapreduce.fileoutputcommitter.task.cleanup.enabled mapreduce.fileoutputcommitter.cleanup. mapred.output.committer.class`},
	{"delegation tokens, which Hammr does not take", `mapreduce.job.token.tracking.ids mapreduce.job.token.tracking.ids.enabled
		mapreduce.job.complete.cancel.delegation.tokens mapreduce.job.send-token-conf mapreduce.job.hdfs-servers`},
	{"security and web pages of Hadoop's daemons; a client that lacks something is refused by them", `hadoop. ha. security. ssl.
		datanode. nfs. httpfs. adl.`},
	{"file systems that Hammr does not open, and counts that it does not make", `fs.AbstractFileSystem. fs.s3a. fs.viewfs. fs.azure.
		fs.adl. fs.ftp. fs.obs. fs.wasb. fs.wasbs. fs.abfs. fs.abfss. fs.gs. fs.har. fs.client. fs.file. fs.iostatistics. fs.getspaceused.
		fs.df. fs.du. fs.automatic. fs.creation. fs.protected. fs.defaultFS.`},
	{"'hammr fs' has no trash, and says so", `fs.trash.`},
	{"checksums of input are always checked", `io.skip.checksum.errors`},
	{"a table of nodes in a file; only its file is read", `net.topology.`},
	{"HDFS's daemons", `dfs.namenode. dfs.datanode. dfs.journalnode. dfs.ha. dfs.webhdfs. dfs.balancer. dfs.storage. dfs.provided.
		dfs.block. dfs.qjournal. dfs.image. dfs.mover. dfs.http. dfs.disk. dfs.permissions. dfs.blockreport. dfs.secondary. dfs.pipeline.
		dfs.hosts dfs.hosts. dfs.edit. dfs.domain. dfs.xframe. dfs.content-summary. dfs.https. dfs.default. dfs.cluster. dfs.heartbeat.
		dfs.internal. dfs.short. dfs.metrics. dfs.trustedchannel. dfs.cachereport. dfs.user. dfs.batched. dfs.ls. dfs.quota. dfs.lock.
		dfs.net. dfs.qjm. dfs.reformat. dfs.protected. dfs.nodeplan. dfs.replication.max dfs.nameservice. dfs.federation. dfs.web.
		dfs.data.transfer. dfs.encrypt. dfs.encryption. dfs.use.`},
	{"HDFS's client in Java; Hammr has its own", `dfs.client. dfs.checksum. dfs.bytes-per-checksum dfs.client-write-packet-size
		dfs.stream-buffer-size`},
}

// harmlessNames are the names and prefixes of harmless.
var harmlessNames = func() (all []string) {
	for _, group := range harmless {
		all = append(all, strings.Fields(group.names)...)
	}
	return all
}()

// isHarmless reports whether a property is accepted and not read.
func isHarmless(name string) bool {
	for _, h := range harmlessNames {
		if name == h || strings.HasSuffix(h, ".") && strings.HasPrefix(name, h) {
			return true
		}
	}
	return false
}

// hadoopSpaces begin the names of Hadoop's properties.
var hadoopSpaces = []string{"mapreduce.", "mapred.", "dfs.", "fs.", "io.", "yarn.", "hadoop.", "ipc."}

// unknown returns a warning for a name that looks like one of Hadoop's and is none. The value is kept all
// the same: a program may read it. Each task reads the properties of its job again, so only those that a
// user or a site has given are compared with all names.
func unknown(name string) []string {
	name = strings.TrimSpace(name)
	canonical, _ := undeprecated(name)
	i := slices.IndexFunc(hadoopSpaces, func(space string) bool { return strings.HasPrefix(name, space) })
	if table[canonical] != nil || i < 0 || slices.Contains(harmlessNames, name) {
		return nil
	}
	limit := 2 + len(name)/8
	if isHarmless(name) {
		limit = 2 // below a harmless prefix, only what is almost the name of another property
	}
	near := nearest(name, hadoopSpaces[i], limit)
	if near == "" && isHarmless(name) {
		return nil
	}
	return []string{name + " is not a property that is read here" + didYouMean(near)}
}
