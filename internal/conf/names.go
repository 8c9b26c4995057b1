package conf

// Names of the properties that more than one package reads; a property that one package reads
// is named there. TestNamesAreDeclared checks them against keys.go.
const (
	DefaultFS   = "fs.defaultFS"
	Replication = "dfs.replication"
	BlockSize   = "dfs.blocksize"

	UseDatanodeHostname = "dfs.client.use.datanode.hostname"
	HDFSRetryTimeout    = "hammr.hdfs.retry.timeout"
	HDFSLocalAddress    = "hammr.hdfs.local.address"
	HDFSDataNodeTimeout = "hammr.hdfs.datanode.timeout"
	HDFSWriteTimeout    = "hammr.hdfs.write.timeout"
	Keytab              = "hammr.hdfs.keytab"
	Principal           = "hammr.hdfs.principal"

	LocalBlockSize = "hammr.local.blocksize"
	LocalDurable   = "hammr.local.durable"

	ClientTimeout         = "hammr.client.timeout"
	TasknodeExpiry        = "hammr.tasknode.expiry"
	MasterElectionTimeout = "hammr.jobmaster.election.timeout"

	JobName    = "mapreduce.job.name"
	JobQueue   = "mapreduce.job.queuename"
	JobReduces = "mapreduce.job.reduces"
	JobMaps    = "mapreduce.job.maps"

	MapMemoryMB    = "mapreduce.map.memory.mb"
	ReduceMemoryMB = "mapreduce.reduce.memory.mb"

	ProcessTasks = "mapreduce.job.jvm.numtasks"

	LocalDir = "mapreduce.cluster.local.dir"
	Files    = "mapreduce.job.cache.files"

	InputDirRecursive = "mapreduce.input.fileinputformat.input.dir.recursive"
	FileBufferSize    = "io.file.buffer.size"
	SplitMinSize      = "mapreduce.input.fileinputformat.split.minsize"
	SplitMaxSize      = "mapreduce.input.fileinputformat.split.maxsize"
	InputCombine      = "hammr.input.combine"
	LinesPerMap       = "mapreduce.input.lineinputformat.linespermap"
	KeyValueSeparator = "mapreduce.input.keyvaluelinerecordreader.key.value.separator"
	LineMaxLength     = "mapreduce.input.linerecordreader.line.maxlength"
	RecordDelimiter   = "textinputformat.record.delimiter"

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
	JobLogDir                 = "hammr.job.log.dir"
	BoundaryTimeout           = "hammr.preempt.boundary.timeout"
	CheckpointCopies          = "hammr.preempt.checkpoint.copies"
	MapPreemption             = "hammr.job.map.preemption"
	ReducePreemption          = "hammr.job.reduce.preemption"
	MayPreempt                = "hammr.job.may.preempt"
	PartitionRanges           = "hammr.job.partition.ranges"

	CountersLimit = "mapreduce.job.counters.limit"
	PollInterval  = "mapreduce.client.progressmonitor.pollinterval"
	OutputFilter  = "mapreduce.client.output.filter"

	RecordSleep = "hammr.debug.record.sleep"

	OutputCompress      = "mapreduce.output.fileoutputformat.compress"
	OutputCompressCodec = "mapreduce.output.fileoutputformat.compress.codec"
	OutputCompressType  = "mapreduce.output.fileoutputformat.compress.type"
	TextOutputSeparator = "mapreduce.output.textoutputformat.separator"
)
