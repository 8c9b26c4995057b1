package conf

// declared lists every property that the engine reads, or refuses because it does not
// implement it. Names, units and defaults are Hadoop's unless the line says otherwise. A line
// has the name, the kind, the default as a user would type it, and the meaning in one phrase
// without a full stop, which `hammr conf` prints; then bounds, choices and old names:
//
//	key("dfs.replication", Int, "3", "copies of each block").between(1, 512)
//
// Defaults pass the checks of their own lines; TestTable makes sure.
var declared = []Key{
	// Files and clusters.
	key("fs.defaultFS", String, "file:///", "file system of names without a scheme").renames("fs.default.name"),
	key("dfs.replication", Int, "3", "copies of each block of a new file on HDFS").between(1, 512),
	key("dfs.blocksize", Size, "134217728", "bytes in a block of a new file on HDFS").atLeast(512).renames("dfs.block.size"),
	key("dfs.nameservices", List, "", "names of the HDFS clusters that this configuration describes").renames("dfs.federation.nameservices"),
	key("dfs.client.use.datanode.hostname", Bool, "false", "connect to DataNodes by host name instead of address"),
	key("io.file.buffer.size", Size, "65536", "least number of bytes that are read from an uncompressed input file at once; most formats read more; Hadoop has 4096").between(512, 1<<30),
	key("net.topology.script.file.name", String, "", "script that prints the rack of each host that it gets as argument; the table comes first").renames("topology.script.file.name"),
	key("net.topology.script.number.args", Int, "100", "hosts that one run of the topology script gets").atLeast(1).renames("topology.script.number.args"),
	key("net.topology.table.file.name", String, "", "file with a host and its rack on each line").renames("net.topology.configured.node.mapping"),
	key("hadoop.security.authentication", Class, "simple", "how to log in to HDFS").oneOf("simple", "kerberos"),
	key("dfs.namenode.kerberos.principal", String, "", "the NameNode's Kerberos principal, as nn/_HOST@REALM"),
	key("dfs.data.transfer.protection", List, "", "protections of blocks on the network, best first: authentication, integrity or privacy; the first that Hammr knows is used"),
	key("hammr.hdfs.keytab", String, "", "file with the keys of hammr.hdfs.principal; without it, kinit's ticket cache is used"),
	key("hammr.hdfs.principal", String, "", "user@REALM to log in to HDFS as"),
	key("hammr.hdfs.retry.timeout", Duration, "60s", "time for which an HDFS call is retried while a NameNode restarts"),
	key("hammr.hdfs.outage.limit", Duration, "1h", "time for which a job waits while HDFS is not available; then the job fails; 0: it fails at once"),
	key("hammr.hdfs.datanode.timeout", Duration, "5s", "silence of a DataNode after which another replica is read"),
	key("hammr.hdfs.write.timeout", Duration, "20s", "silence of the DataNodes of an open block after which the block is written again"),
	key("hammr.hdfs.probe.timeout", Duration, "1s", "silence of the DataNodes of an open block after which they are probed, and the time in which they must answer; the block is written again without one that does not").atLeast(1),
	key("hammr.hdfs.local.address", String, "", "IP address that connections to HDFS come from, which decides what is local; empty lets the system choose"),
	key("hammr.local.blocksize", Size, "134217728", "bytes in a block of a local file, and so in a split").atLeast(4096),
	key("hammr.local.durable", Bool, "false", "sync each local file to the disk when it is closed"),

	// The job: its name, place in the queues, numbers of tasks, tries and limits. Programs set
	// most of them with -D; a site's mapred-site.xml sets them for all jobs.
	key("mapreduce.job.cache.files", List, "", "side files of the job, each with an optional #name").renames("mapred.cache.files", "tmpfiles"),
	key("mapreduce.framework.name", Class, "local", "what runs the job; Hammr goes by the flag --master"),
	key("mapreduce.job.name", String, "", "name that is shown for the job").renames("mapred.job.name"),
	key("mapreduce.job.user.name", String, "", "user that the job belongs to").renames("user.name"),
	key("mapreduce.job.queuename", Class, "default", "pool that the job is put into").renames("mapred.job.queue.name", "pool.name", "mapred.fairscheduler.pool"),
	key("mapreduce.job.priority", Class, "NORMAL", "rank among the jobs of a pool").renames("mapred.job.priority").oneOf("VERY_HIGH", "HIGH", "NORMAL", "DEFAULT", "LOW", "VERY_LOW"),
	key("mapreduce.job.tags", List, "", "words to find the job by").unsupported("jobs cannot be listed by tag; use mapreduce.job.name"),
	key("mapreduce.job.redacted-properties", List, "", "names of properties whose values are not shown, beside those that look like secrets"),
	key("mapreduce.job.acl-view-job", String, " ", "users and groups who may see the job; Hammr lets everyone who has the cluster's token").unsupported("jobs have no access lists; everyone with the cluster's token may see every job", "*"),
	key("mapreduce.job.acl-modify-job", String, " ", "users and groups who may change the job; Hammr lets everyone who has the cluster's token").unsupported("jobs have no access lists; everyone with the cluster's token may change every job", "*"),
	key("mapreduce.job.end-notification.url", String, "", "URL that a master fetches when the job ends, with $jobId and $jobStatus replaced; a run without a cluster fetches none").renames("job.end.notification.url"),
	key("mapreduce.job.end-notification.retry.attempts", Int, "0", "further attempts to fetch it after a failure").atLeast(0).renames("job.end.retry.attempts"),
	key("mapreduce.job.end-notification.retry.interval", Int, "1000", "ms between two attempts").atLeast(0).renames("job.end.retry.interval"),
	key("mapreduce.job.end-notification.max.attempts", Int, "5", "bound of the attempts; never more than 10").atLeast(1),
	key("mapreduce.job.end-notification.max.retry.interval", Int, "5000", "bound of the interval in ms; never more than 60000").atLeast(0),
	key("mapreduce.job.reduces", Int, "1", "reduce tasks; 0 leaves the maps' output as it is").between(0, 1_000_000).renames("mapred.reduce.tasks"),
	key("mapreduce.job.maps", Int, "2", "number of maps of programs without input files").atLeast(0).renames("mapred.map.tasks"),
	key("mapreduce.job.counters.limit", Int, "120", "counters that a job's own code may create; an attempt with more fails, and so does a job").atLeast(1).renames("mapreduce.job.counters.max"),
	key("mapreduce.job.counters.groups.max", Int, "50", "groups of counters that a job's own code may create").atLeast(1),
	key("mapreduce.job.counters.counter.name.max", Int, "64", "longest name of a counter in bytes; a longer one fails the attempt; Hadoop cuts it off").between(1, 1024),
	key("mapreduce.job.counters.group.name.max", Int, "128", "longest name of a group of counters in bytes; a longer one fails the attempt; Hadoop cuts it off").between(1, 1024),
	key("mapreduce.job.maxtaskfailures.per.tracker", Int, "3", "failures on a machine after which a job avoids it").atLeast(1).renames("mapred.max.tracker.failures"),
	key("mapreduce.job.reduce.slowstart.completedmaps", Float, "0.05", "share of the maps that must be done before reduces start").between(0, 1).renames("mapred.reduce.slowstart.completed.maps"),
	key("mapreduce.map.maxattempts", Int, "4", "attempts of a map before the job fails").atLeast(1).renames("mapred.map.max.attempts"),
	key("mapreduce.reduce.maxattempts", Int, "4", "attempts of a reduce before the job fails").atLeast(1).renames("mapred.reduce.max.attempts"),
	key("mapreduce.map.speculative", Bool, "false", "run a second attempt of a slow map").renames("mapred.map.tasks.speculative.execution"),
	key("mapreduce.reduce.speculative", Bool, "false", "run a second attempt of a slow reduce").renames("mapred.reduce.tasks.speculative.execution"),
	key("mapreduce.map.memory.mb", Int, "1024", "MiB that a map task may use").atLeast(1).unsetAt("-1").renames("mapred.job.map.memory.mb"),
	key("mapreduce.reduce.memory.mb", Int, "1024", "MiB that a reduce task may use").atLeast(1).unsetAt("-1").renames("mapred.job.reduce.memory.mb"),
	key("mapreduce.job.jvm.numtasks", Int, "-1", "tasks of the job that one process may run, one after another; -1: any number; Hadoop has 1").between(-1, 1_000_000).renames("mapred.job.reuse.jvm.num.tasks"),
	key("mapreduce.task.timeout", Duration, "600000", "silence after which an attempt fails; 0: never").renames("mapred.task.timeout"),
	key("mapreduce.map.skip.maxrecords", Int, "0", "failing records that a map may skip; 0: none").atLeast(0).renames("mapred.skip.map.max.skip.records"),
	key("mapreduce.client.progressmonitor.pollinterval", Duration, "0", "least time between two progress reports of a program; 0 shows every change; Hadoop has 1000").renames("jobclient.progress.monitor.poll.interval"),
	key("mapreduce.client.output.filter", Class, "FAILED", "attempts whose end a program prints: those that fail, or none").renames("jobclient.output.filter").unsupported("programs print failed attempts (FAILED) or none (NONE)", "NONE"),
	key("mapreduce.cluster.local.dir", List, "", "directories for spills and map output; empty: one below the system's temporary directory").renames("mapred.local.dir"),

	// Input. Sizes bound splits: a split is a block, at least minsize and at most maxsize. The
	// formats of records are chosen by programs, not by properties.
	key("mapreduce.input.fileinputformat.inputdir", List, "", "input files and directories").renames("mapred.input.dir").unsupported("programs take their inputs from their arguments"),
	key("mapreduce.input.fileinputformat.input.dir.recursive", Bool, "false", "read the directories below input directories too").renames("mapred.input.dir.recursive", "mapreduce.input.fileinputformat.inputdir.recursive"),
	key("mapreduce.input.fileinputformat.split.minsize", Size, "0", "least number of bytes in a split, if its file is that long").renames("mapred.min.split.size"),
	key("mapreduce.input.fileinputformat.split.maxsize", Size, "9223372036854775807", "greatest number of bytes in a split").atLeast(1).renames("mapred.max.split.size"),
	key("mapreduce.input.lineinputformat.linespermap", Int, "1", "lines in a split of NLineInputFormat").atLeast(1).renames("mapred.line.input.format.linespermap"),
	key("mapreduce.input.keyvaluelinerecordreader.key.value.separator", String, "\t", "byte between key and value of a line").oneByte().renames("key.value.separator.in.input.line"),
	key("mapreduce.input.linerecordreader.line.maxlength", Size, "2147483647", "longest line in bytes; a longer one is an error").atLeast(1).renames("mapred.linerecordreader.maxlength"),
	key("textinputformat.record.delimiter", String, "", "bytes that end a text record; empty: LF, CR or CRLF"),

	// Sort and shuffle, from the map's buffer to the reduce's merge. The percentages are
	// shares of the memory that is named before them. A default that differs from Hadoop's is
	// said to.
	key("mapreduce.task.io.sort.mb", Int, "100", "MiB of memory in which a map collects its output; at the default, maps that combine may take more if the machine has it").between(1, 2047).renames("io.sort.mb"),
	key("mapreduce.task.io.sort.factor", Int, "128", "runs that are merged at once; Hadoop has 10, which costs a pass over the disk").between(2, 100_000).renames("io.sort.factor"),
	key("mapreduce.map.sort.spill.percent", Float, "0.80", "share of the sort memory at which a spill begins").moreThan(0, 1).renames("io.sort.spill.percent"),
	key("mapreduce.map.output.compress", Bool, "false", "compress map output").renames("mapred.compress.map.output"),
	key("mapreduce.map.output.compress.codec", Class, "org.apache.hadoop.io.compress.DefaultCodec", "codec of map output").renames("mapred.map.output.compression.codec"),
	key("mapreduce.reduce.shuffle.parallelcopies", Int, "5", "fetches that a reduce runs at once").atLeast(1).renames("mapred.reduce.parallel.copies"),
	key("mapreduce.reduce.shuffle.input.buffer.percent", Float, "0.70", "share of a reduce's memory that holds fetched map output").between(0, 1).renames("mapred.job.shuffle.input.buffer.percent"),
	key("mapreduce.reduce.shuffle.merge.percent", Float, "0.66", "share of that memory at which a merge to disk begins").moreThan(0, 1).renames("mapred.job.shuffle.merge.percent"),
	key("mapreduce.reduce.shuffle.memory.limit.percent", Float, "0.25", "share of that memory that one segment may take").moreThan(0, 1),
	key("mapreduce.reduce.merge.inmem.threshold", Int, "1000", "segments in memory at which a merge to disk begins; 0 or less: no such limit").renames("mapred.inmem.merge.threshold"),
	key("mapreduce.reduce.input.buffer.percent", Float, "1.0", "share of a reduce's memory that may hold fetched segments while it reduces; the others go to disk first; Hadoop has 0").between(0, 1).renames("mapred.job.reduce.input.buffer.percent"),
	key("mapreduce.reduce.shuffle.retry-delay.max.ms", Duration, "60000", "longest wait before a fetch is retried"),
	key("mapreduce.reduce.shuffle.connect.timeout", Duration, "180000", "time that a fetch waits for its connection").renames("mapreduce.shuffle.connect.timeout"),
	key("mapreduce.reduce.shuffle.read.timeout", Duration, "180000", "time that a fetch waits for bytes").renames("mapreduce.shuffle.read.timeout"),
	key("mapreduce.shuffle.ssl.enabled", Bool, "false", "encrypt the shuffle").unsupported("map output travels unencrypted; keep the cluster on a private network"),

	// Output: compression and separators of the files that a job commits.
	key("mapreduce.output.fileoutputformat.outputdir", String, "", "output directory").renames("mapred.output.dir").unsupported("programs take their output directory from their arguments"),
	key("mapreduce.output.fileoutputformat.compress", Bool, "false", "compress the job's output").renames("mapred.output.compress"),
	key("mapreduce.output.fileoutputformat.compress.codec", Class, "org.apache.hadoop.io.compress.DefaultCodec", "codec of the job's output").renames("mapred.output.compression.codec"),
	key("mapreduce.output.fileoutputformat.compress.type", Class, "RECORD", "what a SequenceFile compresses").renames("mapred.output.compression.type").oneOf("NONE", "RECORD", "BLOCK"),
	key("mapreduce.output.textoutputformat.separator", String, "\t", "text between key and value of a line").renames("mapred.textoutputformat.separator"),
	key("mapreduce.fileoutputcommitter.marksuccessfuljobs", Bool, "true", "write _SUCCESS when the output is complete"),
	key("mapreduce.fileoutputcommitter.algorithm.version", Int, "1", "accepted and ignored: the job commits its output once").between(1, 2).ignored("is ignored: the output becomes visible as a whole when the job commits"),

	// The fair scheduler's settings, by the names of Hadoop 1; those of YARN's fair scheduler
	// are aliases.
	key("mapred.fairscheduler.allocation.file", String, "", "file that describes the pools").renames("yarn.scheduler.fair.allocation.file"),
	key("mapred.fairscheduler.poolnameproperty", String, "", "property whose value names the pool of a job that names none, if that pool exists or masters create it: user.name, group.name or any other"),
	key("mapred.fairscheduler.preemption", Bool, "false", "take slots back from pools above their share").renames("yarn.scheduler.fair.preemption"),
	key("mapred.fairscheduler.locality.delay", Duration, "-1", "time that a slot waits for tasks with input on its machine, and as long for those in its rack; -1: 4.5 s each").atLeast(-1),

	// Hammr's own properties, below hammr. An unknown name below hammr is an error, so a
	// misspelt one is found.
	key("hammr.input.combine", Bool, "true", "combine small files in one split; Hadoop has a map for each file"),
	key("hammr.input.keep.byte.order.mark", Bool, "false", "keep a UTF-8 byte order mark at the start of a file as part of its first line; Hadoop drops it"),
	key("hammr.input.compressed.as.lines", Bool, "false", "read lines from a file that begins as a compressed file does although its extension names no such codec; such a file is refused otherwise"),
	key("hammr.tasknode.health.script", String, "", "program that a tasknode runs to check its machine; a line that begins with ERROR takes the machine out of use"),
	key("hammr.job.reduces.auto", Bool, "false", "if mapreduce.job.reduces is set nowhere, have as many reduces as this process has slots, or 0.95 times those of the cluster"),
	key("hammr.job.local.disk.limit", Size, "0", "bytes that the job may occupy on the local disks of a machine; its largest attempt there fails above that; 0: no limit").atLeast(0),
	key("hammr.job.log.dir", String, "", "full name of the directory for the logs of attempts; empty: the cluster's"),
	key("hammr.job.fault.decay", Duration, "10m", "time after which a failure on a machine no longer counts when machines are avoided; 0: never").atLeast(0),
	key("hammr.job.map.preemption", List, "split,checkpoint,suspend,kill", "preemption modes that may take the slot of a map; wait alone: none").oneOf("split", "checkpoint", "suspend", "kill", "wait"),
	key("hammr.job.reduce.preemption", List, "checkpoint,suspend,kill", "preemption modes that may take the slot of a reduce; wait alone: none").oneOf("checkpoint", "suspend", "kill", "wait"),
	key("hammr.job.may.preempt", Bool, "true", "other jobs may be preempted for tasks of this job"),
	key("hammr.job.partition.ranges", String, "", "keys at which the partitions of a total-order job begin; the job sets it itself"),
	key("hammr.job.placement", Class, "default", "how tasks are placed: flow moves the fewest bytes, delay waits for local slots, none ignores locality; default: as the policy does").oneOf("default", "flow", "delay", "none"),
	key("hammr.shuffle.fetch.timeout", Duration, "60s", "time for which fetches of a map output may fail before the map runs again").atLeast(1),
	key("hammr.job.channel.stored", Bool, "false", "keep the files between stages with the job's output, so that they survive a lost machine"),
	key("hammr.channel.connect.timeout", Duration, "60s", "time that a Node waits for the process at the other end of a stream").atLeast(1),
	key("hammr.client.timeout", Duration, "60s", "time for which a client looks for the leading master").atLeast(1),
	key("hammr.tasknode.memory.mb", Int, "0", "MiB that the tasks of a machine may take together; 0: its memory less 1 GiB; its --memory-mb overrides it").between(0, 1<<40),
	key("hammr.tasknode.expiry", Duration, "10s", "silence after which masters consider a machine lost; their --expiry overrides it").atLeast(1),
	key("hammr.jobmaster.election.timeout", Duration, "500ms", "silence of the leader after which masters elect another; their --election-timeout overrides it").atLeast(1).renames("hammr.jobmaster.heartbeat"),
	key("hammr.limits.jobs", Int, "10000", "unfinished jobs that a cluster accepts; masters read this and the other limits").between(1, 1<<31-1),
	key("hammr.limits.jobs.per.user", Int, "1000", "unfinished jobs that a cluster accepts of one user").between(1, 1<<31-1),
	key("hammr.limits.tasks", Int, "10000000", "tasks of all unfinished jobs of a cluster").between(1, 1<<31-1),
	key("hammr.limits.tasks.per.job", Int, "1000000", "tasks of a job").between(1, 1<<31-1),
	key("hammr.limits.splits", Int, "1000000", "input splits of a job").between(1, 1<<31-1),
	key("hammr.limits.partitions", Int, "100000", "reduces of a job").between(1, 1<<31-1),
	key("hammr.limits.stages", Int, "1000", "stages of a job's graph, which may have ten times as many edges").between(1, 100_000),
	key("hammr.limits.pieces", Int, "10000", "output files that one attempt may write").between(1, 1<<31-1),
	key("hammr.limits.counters", Int, "10000", "greatest value of mapreduce.job.counters.limit that a job may have").between(1, 1<<31-1),
	key("hammr.limits.counter.groups", Int, "1000", "greatest value of mapreduce.job.counters.groups.max that a job may have").between(1, 1<<31-1),
	key("hammr.limits.spec.bytes", Int, "8388608", "bytes of a job's configuration and properties").between(1, 8<<20),
	key("hammr.pools.create", Class, "user", "pools that take jobs although no master declares them: user, a pool with the name of the job's user; any, a pool with any name; none; masters read it").oneOf("user", "any", "none"),
	key("hammr.debug.record.sleep", Duration, "0", "time by which each record of a map and each group of a reduce is delayed, for experiments"),
	key("hammr.debug.poison", Bool, "false", "overwrite memory that the engine has lent as soon as it is no longer valid, to find code that keeps a view of it; the output is the same, and the job slower"),
	key("hammr.preempt.checkpoint.copies", Class, "none", "where copies of a checkpoint go: output is the file system of the job's output, so that the checkpoint survives its machine").oneOf("none", "output"),
	key("hammr.preempt.boundary.timeout", Duration, "1s", "time that a checkpoint waits for a group boundary before the task is suspended instead"),
}
