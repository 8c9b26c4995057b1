package conf

// declared is every property that the engine itself reads, one a line. Names,
// units and defaults are Hadoop's unless the line says otherwise.
var declared = []Key{
	// Files and clusters.
	key("fs.defaultFS", String, "file:///", "file system of names without a scheme").was("fs.default.name"),
	key("dfs.replication", Int, "3", "copies of each block of a new file on HDFS").in(1, 512),
	key("dfs.blocksize", Size, "134217728", "bytes in a block of a new file on HDFS").from(512).was("dfs.block.size"),
	key("dfs.nameservices", List, "", "names of the HDFS clusters that this configuration describes").was("dfs.federation.nameservices"),
	key("dfs.client.use.datanode.hostname", Bool, "false", "connect to DataNodes by host name instead of address"),
	key("io.file.buffer.size", Size, "65536", "bytes in the buffer of an open file; Hadoop has 4096").from(512),
	key("net.topology.script.file.name", String, "", "script that prints the rack of each host given to it").was("topology.script.file.name"),
	key("net.topology.script.number.args", Int, "100", "hosts given to one run of the topology script").from(1).was("topology.script.number.args"),
	key("net.topology.table.file.name", String, "", "file with a host and its rack on each line").was("net.topology.configured.node.mapping"),
	key("hammr.local.blocksize", Size, "134217728", "bytes in a block, and so in a split, of a local file").from(4096),
	key("hammr.local.durable", Bool, "false", "wait at the end of each local file until the disk has it"),

	// The job.
	key("mapreduce.job.cache.files", List, "", "side files of the job, each with an optional #name").was("mapred.cache.files", "tmpfiles"),
	key("mapreduce.framework.name", Class, "local", "what runs the job; the flag --master decides here"),
	key("mapreduce.job.name", String, "", "name to show to people").was("mapred.job.name"),
	key("mapreduce.job.user.name", String, "", "user that the job belongs to").was("user.name"),
	key("mapreduce.job.queuename", Class, "default", "pool that the job is put into").was("mapred.job.queue.name", "pool.name"),
	key("mapreduce.job.priority", Class, "NORMAL", "rank among the jobs of a pool").was("mapred.job.priority").of("VERY_HIGH", "HIGH", "NORMAL", "DEFAULT", "LOW", "VERY_LOW"),
	key("mapreduce.job.tags", List, "", "words to find the job by"),
	key("mapreduce.job.acl-view-job", String, " ", "who else may see the job: users, a space, groups"),
	key("mapreduce.job.acl-modify-job", String, " ", "who else may change the job: users, a space, groups"),
	key("mapreduce.job.end-notification.url", String, "", "fetched when the job ends; $jobId and $jobStatus are filled in").was("job.end.notification.url"),
	key("mapreduce.job.reduces", Int, "1", "reduce tasks; 0 leaves the maps' output as it is").in(0, 1_000_000).was("mapred.reduce.tasks"),
	key("mapreduce.job.maps", Int, "2", "hint that programs without input files use").from(0).was("mapred.map.tasks"),
	key("mapreduce.job.counters.limit", Int, "120", "counters that a job's own code may make").from(1).was("mapreduce.job.counters.max"),
	key("mapreduce.job.maxtaskfailures.per.tracker", Int, "3", "failures after which a job avoids a machine").from(1).was("mapred.max.tracker.failures"),
	key("mapreduce.job.reduce.slowstart.completedmaps", Float, "0.05", "share of the maps done before reduces start").in(0, 1).was("mapred.reduce.slowstart.completed.maps"),
	key("mapreduce.map.maxattempts", Int, "4", "attempts at a map before the job fails").from(1).was("mapred.map.max.attempts"),
	key("mapreduce.reduce.maxattempts", Int, "4", "attempts at a reduce before the job fails").from(1).was("mapred.reduce.max.attempts"),
	key("mapreduce.map.speculative", Bool, "true", "run a second attempt at a slow map").was("mapred.map.tasks.speculative.execution"),
	key("mapreduce.reduce.speculative", Bool, "true", "run a second attempt at a slow reduce").was("mapred.reduce.tasks.speculative.execution"),
	key("mapreduce.map.memory.mb", Int, "1024", "MiB that a map task may use").from(1).was("mapred.job.map.memory.mb"),
	key("mapreduce.reduce.memory.mb", Int, "1024", "MiB that a reduce task may use").from(1).was("mapred.job.reduce.memory.mb"),
	key("mapreduce.task.timeout", Duration, "600000", "silence after which an attempt has failed; 0 is for ever").was("mapred.task.timeout"),
	key("mapreduce.map.skip.maxrecords", Int, "0", "failing records that a map may skip, each exactly; 0 skips none").from(0).was("mapred.skip.map.max.skip.records"),
	key("mapreduce.client.progressmonitor.pollinterval", Duration, "1000", "time between two looks at a running job").from(1).was("jobclient.progress.monitor.poll.interval"),
	key("mapreduce.client.output.filter", Class, "FAILED", "attempts whose end the client prints").was("jobclient.output.filter").of("NONE", "KILLED", "FAILED", "SUCCEEDED", "ALL"),
	key("mapreduce.cluster.local.dir", List, "", "directories for spills and map output; empty is one below the system's temporary directory").was("mapred.local.dir"),

	// Input.
	key("mapreduce.input.fileinputformat.inputdir", List, "", "input files and directories").was("mapred.input.dir"),
	key("mapreduce.input.fileinputformat.input.dir.recursive", Bool, "false", "read directories within input directories").was("mapred.input.dir.recursive", "mapreduce.input.fileinputformat.inputdir.recursive"),
	key("mapreduce.input.fileinputformat.split.minsize", Size, "0", "least bytes in a split, beyond a block").was("mapred.min.split.size"),
	key("mapreduce.input.fileinputformat.split.maxsize", Size, "9223372036854775807", "most bytes in a split").from(1).was("mapred.max.split.size"),
	key("mapreduce.input.lineinputformat.linespermap", Int, "1", "lines in a split of NLineInputFormat").from(1).was("mapred.line.input.format.linespermap"),
	key("mapreduce.input.keyvaluelinerecordreader.key.value.separator", String, "\t", "byte between key and value of a line").was("key.value.separator.in.input.line"),
	key("mapreduce.input.linerecordreader.line.maxlength", Size, "2147483647", "longest line in bytes; a longer one is an error").from(1).was("mapred.linerecordreader.maxlength"),
	key("textinputformat.record.delimiter", String, "", "what ends a text record; empty is LF, CR or CRLF"),

	// Sort and shuffle.
	key("mapreduce.task.io.sort.mb", Int, "100", "MiB in which a map gathers its output").in(1, 2047).was("io.sort.mb"),
	key("mapreduce.task.io.sort.factor", Int, "64", "runs merged at once; Hadoop has 10, which costs a pass over the disk").in(2, 100_000).was("io.sort.factor"),
	key("mapreduce.map.sort.spill.percent", Float, "0.80", "share of the sort memory that starts a spill").over(0, 1).was("io.sort.spill.percent"),
	key("mapreduce.map.output.compress", Bool, "false", "compress map output").was("mapred.compress.map.output"),
	key("mapreduce.map.output.compress.codec", Class, "org.apache.hadoop.io.compress.DefaultCodec", "codec of map output").was("mapred.map.output.compression.codec"),
	key("mapreduce.reduce.shuffle.parallelcopies", Int, "5", "fetches that a reduce has under way at once").from(1).was("mapred.reduce.parallel.copies"),
	key("mapreduce.reduce.shuffle.input.buffer.percent", Float, "0.70", "share of a reduce's memory that holds fetched map output").in(0, 1).was("mapred.job.shuffle.input.buffer.percent"),
	key("mapreduce.reduce.shuffle.merge.percent", Float, "0.66", "share of that memory that starts a merge").over(0, 1).was("mapred.job.shuffle.merge.percent"),
	key("mapreduce.reduce.shuffle.memory.limit.percent", Float, "0.25", "share of that memory that one segment may take").over(0, 1),
	key("mapreduce.reduce.merge.inmem.threshold", Int, "1000", "segments in memory that start a merge; 0 or less leaves it to the memory").was("mapred.inmem.merge.threshold"),
	key("mapreduce.reduce.input.buffer.percent", Float, "0.0", "share of a reduce's memory that keeps segments while it reduces").in(0, 1).was("mapred.job.reduce.input.buffer.percent"),
	key("mapreduce.reduce.shuffle.retry-delay.max.ms", Duration, "60000", "longest wait before a fetch is tried again"),
	key("mapreduce.reduce.shuffle.connect.timeout", Duration, "180000", "wait for a connection of a fetch").was("mapreduce.shuffle.connect.timeout"),
	key("mapreduce.reduce.shuffle.read.timeout", Duration, "180000", "wait for bytes of a fetch").was("mapreduce.shuffle.read.timeout"),
	key("mapreduce.shuffle.ssl.enabled", Bool, "false", "encrypt fetches"),

	// Output.
	key("mapreduce.output.fileoutputformat.outputdir", String, "", "output directory, which may not exist").was("mapred.output.dir"),
	key("mapreduce.output.fileoutputformat.compress", Bool, "false", "compress the job's output").was("mapred.output.compress"),
	key("mapreduce.output.fileoutputformat.compress.codec", Class, "org.apache.hadoop.io.compress.DefaultCodec", "codec of the job's output").was("mapred.output.compression.codec"),
	key("mapreduce.output.fileoutputformat.compress.type", Class, "RECORD", "what a SequenceFile compresses").was("mapred.output.compression.type").of("NONE", "RECORD", "BLOCK"),
	key("mapreduce.output.textoutputformat.separator", String, "\t", "text between key and value of a line").was("mapred.textoutputformat.separator"),
	key("mapreduce.fileoutputcommitter.marksuccessfuljobs", Bool, "true", "write _SUCCESS when the output is complete"),
	key("mapreduce.fileoutputcommitter.algorithm.version", Int, "1", "accepted and ignored: output is committed once, by the job").in(1, 2).note("2", "is ignored: output becomes visible when the job commits, all of it or none"),

	// Fair scheduler, as in Hadoop 1.
	key("mapred.fairscheduler.allocation.file", String, "", "file that describes the pools").was("yarn.scheduler.fair.allocation.file"),
	key("mapred.fairscheduler.poolnameproperty", String, "mapreduce.job.user.name", "property whose value names a job's pool"),
	key("mapred.fairscheduler.preemption", Bool, "false", "take slots back from pools above their share").was("yarn.scheduler.fair.preemption"),
	key("mapred.fairscheduler.locality.delay", Duration, "-1", "wait for a local slot; -1 chooses by the heartbeat").from(-1),

	// Ours.
	key("hammr.input.combine", Bool, "true", "read small files together in one split; Hadoop has a map for each file"),
	key("hammr.job.partition.ranges", String, "", "set by a total-order job itself: the keys at which its partitions begin"),
	key("hammr.tasknode.expiry", Duration, "30s", "silence after which a machine is given up").from(1),
	key("hammr.preempt.boundary.timeout", Duration, "1s", "wait for a group boundary before a checkpoint falls back to suspension"),
}
