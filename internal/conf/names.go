package conf

// Names of properties that more than one package reads. A package that alone reads a
// property declares its name. TestNamesAreDeclared checks these names against keys.go.
const (
	// Properties in Hadoop's core-site.xml and hdfs-site.xml that every file system uses.
	DefaultFS   = "fs.defaultFS"
	Replication = "dfs.replication"
	BlockSize   = "dfs.blocksize"

	// The HDFS client. The last two log in to a cluster with Kerberos.
	UseDatanodeHostname = "dfs.client.use.datanode.hostname"
	HDFSRetryTimeout    = "hammr.hdfs.retry.timeout"
	HDFSLocalAddress    = "hammr.hdfs.local.address"
	HDFSOutageLimit     = "hammr.hdfs.outage.limit"
	HDFSDataNodeTimeout = "hammr.hdfs.datanode.timeout"
	HDFSWriteTimeout    = "hammr.hdfs.write.timeout"
	HDFSProbeTimeout    = "hammr.hdfs.probe.timeout"
	Keytab              = "hammr.hdfs.keytab"
	Principal           = "hammr.hdfs.principal"

	// The local file system.
	LocalBlockSize = "hammr.local.blocksize"
	LocalDurable   = "hammr.local.durable"

	// Memory of a machine and times of a cluster: flags of the daemons override all but
	// ClientTimeout.
	TasknodeMemoryMB      = "hammr.tasknode.memory.mb"
	ClientTimeout         = "hammr.client.timeout"
	TasknodeExpiry        = "hammr.tasknode.expiry"
	MasterElectionTimeout = "hammr.jobmaster.election.timeout"

	// The name of a job, where it runs, and its number of tasks.
	JobName     = "mapreduce.job.name"
	JobQueue    = "mapreduce.job.queuename"
	JobReduces  = "mapreduce.job.reduces"
	JobMaps     = "mapreduce.job.maps"
	ReducesAuto = "hammr.job.reduces.auto"

	// Limits of a task's process, by its kind.
	MapMemoryMB    = "mapreduce.map.memory.mb"
	ReduceMemoryMB = "mapreduce.reduce.memory.mb"

	// How many tasks a process runs, one after the other.
	ProcessTasks = "mapreduce.job.jvm.numtasks"

	// Local directories, and files that each task finds in its working directory.
	LocalDir = "mapreduce.cluster.local.dir"
	Files    = "mapreduce.job.cache.files"

	// Input: how files are found, divided into splits and read.
	InputDirRecursive = "mapreduce.input.fileinputformat.input.dir.recursive"
	FileBufferSize    = "io.file.buffer.size"
	SplitMinSize      = "mapreduce.input.fileinputformat.split.minsize"
	SplitMaxSize      = "mapreduce.input.fileinputformat.split.maxsize"
	InputCombine      = "hammr.input.combine"
	KeepByteOrderMark = "hammr.input.keep.byte.order.mark"
	CompressedAsLines = "hammr.input.compressed.as.lines"
	LinesPerMap       = "mapreduce.input.lineinputformat.linespermap"
	KeyValueSeparator = "mapreduce.input.keyvaluelinerecordreader.key.value.separator"
	LineMaxLength     = "mapreduce.input.linerecordreader.line.maxlength"
	RecordDelimiter   = "textinputformat.record.delimiter"

	// The map side of the shuffle, then the reduce side, then properties that Hammr adds to
	// a job: channels, preemption, logs.
	SortMB                    = "mapreduce.task.io.sort.mb"
	SortFactor                = "mapreduce.task.io.sort.factor"
	SpillPercent              = "mapreduce.map.sort.spill.percent"
	MapOutputCompress         = "mapreduce.map.output.compress"
	MapOutputCompressCodec    = "mapreduce.map.output.compress.codec"
	ShuffleInputBufferPercent = "mapreduce.reduce.shuffle.input.buffer.percent"
	ShuffleMergePercent       = "mapreduce.reduce.shuffle.merge.percent"
	ShuffleMemoryLimitPercent = "mapreduce.reduce.shuffle.memory.limit.percent"
	ReduceInputBufferPercent  = "mapreduce.reduce.input.buffer.percent"
	ReduceInMemThreshold      = "mapreduce.reduce.merge.inmem.threshold"
	ShuffleParallelCopies     = "mapreduce.reduce.shuffle.parallelcopies"
	ShuffleConnectTimeout     = "mapreduce.reduce.shuffle.connect.timeout"
	ShuffleReadTimeout        = "mapreduce.reduce.shuffle.read.timeout"
	ShuffleRetryDelayMax      = "mapreduce.reduce.shuffle.retry-delay.max.ms"
	ShuffleFetchTimeout       = "hammr.shuffle.fetch.timeout"
	ChannelsStored            = "hammr.job.channel.stored"
	ChannelConnectTimeout     = "hammr.channel.connect.timeout"
	FailureDecay              = "hammr.job.fault.decay"
	LocalDiskLimit            = "hammr.job.local.disk.limit"
	JobLogDir                 = "hammr.job.log.dir"
	BoundaryTimeout           = "hammr.preempt.boundary.timeout"
	CheckpointCopies          = "hammr.preempt.checkpoint.copies"
	MapPreemption             = "hammr.job.map.preemption"
	ReducePreemption          = "hammr.job.reduce.preemption"
	MayPreempt                = "hammr.job.may.preempt"
	PartitionRanges           = "hammr.job.partition.ranges"

	// The output of a program, and the limits on its own counters.
	CountersLimit    = "mapreduce.job.counters.limit"
	CounterGroupsMax = "mapreduce.job.counters.groups.max"
	PollInterval     = "mapreduce.client.progressmonitor.pollinterval"
	OutputFilter     = "mapreduce.client.output.filter"

	// A delay for experiments, which makes tasks long without work.
	RecordSleep = "hammr.debug.record.sleep"

	// Overwrites memory that was lent: see package poison.
	Poison = "hammr.debug.poison"

	// Output files.
	OutputCompress      = "mapreduce.output.fileoutputformat.compress"
	OutputCompressCodec = "mapreduce.output.fileoutputformat.compress.codec"
	OutputCompressType  = "mapreduce.output.fileoutputformat.compress.type"
	TextOutputSeparator = "mapreduce.output.textoutputformat.separator"
)
