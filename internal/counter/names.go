package counter

// Group display names, in the order in which Hadoop prints them. The trailing
// spaces are Hadoop's.
const (
	GroupFileSystem    = "File System Counters"
	GroupJob           = "Job Counters "
	GroupFramework     = "Map-Reduce Framework"
	GroupShuffleErrors = "Shuffle Errors"
	GroupInputFormat   = "File Input Format Counters "
	GroupOutputFormat  = "File Output Format Counters "
)

// Counters of the job as a whole: what was launched, where, and for how long.
// The jobmaster keeps them; tasks never do.
var (
	FailedMaps           = ID{GroupJob, "Failed map tasks"}
	FailedReduces        = ID{GroupJob, "Failed reduce tasks"}
	KilledMaps           = ID{GroupJob, "Killed map tasks"}
	KilledReduces        = ID{GroupJob, "Killed reduce tasks"}
	LaunchedMaps         = ID{GroupJob, "Launched map tasks"}
	LaunchedReduces      = ID{GroupJob, "Launched reduce tasks"}
	OtherLocalMaps       = ID{GroupJob, "Other local map tasks"}
	DataLocalMaps        = ID{GroupJob, "Data-local map tasks"}
	RackLocalMaps        = ID{GroupJob, "Rack-local map tasks"}
	SlotMillisMaps       = ID{GroupJob, "Total time spent by all maps in occupied slots (ms)"}
	SlotMillisReduces    = ID{GroupJob, "Total time spent by all reduces in occupied slots (ms)"}
	PreemptRequests      = ID{GroupJob, "Tasks that have been asked to preempt"}
	Checkpoints          = ID{GroupJob, "Number of checkpoints reported"}
	CheckpointBytes      = ID{GroupJob, "Total amount of bytes in checkpoints"}
	CheckpointMillis     = ID{GroupJob, "Total time spent checkpointing (ms)"}
	WorkLostMillis       = ID{GroupJob, "Work lost to preemption (ms)"}
	WorkKeptMillis       = ID{GroupJob, "Work conserved by preemption (ms)"}
	MillisMaps           = ID{GroupJob, "Total time spent by all map tasks (ms)"}
	MillisReduces        = ID{GroupJob, "Total time spent by all reduce tasks (ms)"}
	VcoreMillisMaps      = ID{GroupJob, "Total vcore-milliseconds taken by all map tasks"}
	VcoreMillisReduces   = ID{GroupJob, "Total vcore-milliseconds taken by all reduce tasks"}
	MegabyteMillisMaps   = ID{GroupJob, "Total megabyte-milliseconds taken by all map tasks"}
	MegabyteMillisReduce = ID{GroupJob, "Total megabyte-milliseconds taken by all reduce tasks"}
)

// Counters of the work that tasks do.
var (
	MapInputRecords            = ID{GroupFramework, "Map input records"}
	MapOutputRecords           = ID{GroupFramework, "Map output records"}
	MapSkippedRecords          = ID{GroupFramework, "Map skipped records"}
	MapOutputBytes             = ID{GroupFramework, "Map output bytes"}
	MapOutputMaterializedBytes = ID{GroupFramework, "Map output materialized bytes"}
	InputSplitBytes            = ID{GroupFramework, "Input split bytes"}
	CombineInputRecords        = ID{GroupFramework, "Combine input records"}
	CombineOutputRecords       = ID{GroupFramework, "Combine output records"}
	ReduceInputGroups          = ID{GroupFramework, "Reduce input groups"}
	ReduceShuffleBytes         = ID{GroupFramework, "Reduce shuffle bytes"}
	ReduceInputRecords         = ID{GroupFramework, "Reduce input records"}
	ReduceOutputRecords        = ID{GroupFramework, "Reduce output records"}
	ReduceSkippedGroups        = ID{GroupFramework, "Reduce skipped groups"}
	ReduceSkippedRecords       = ID{GroupFramework, "Reduce skipped records"}
	SpilledRecords             = ID{GroupFramework, "Spilled Records"}
	ShuffledMaps               = ID{GroupFramework, "Shuffled Maps "}
	FailedShuffles             = ID{GroupFramework, "Failed Shuffles"}
	MergedMapOutputs           = ID{GroupFramework, "Merged Map outputs"}
	GCTimeMillis               = ID{GroupFramework, "GC time elapsed (ms)"}
	CPUTimeMillis              = ID{GroupFramework, "CPU time spent (ms)"}
	PhysicalMemoryBytes        = ID{GroupFramework, "Physical memory (bytes) snapshot"}
	VirtualMemoryBytes         = ID{GroupFramework, "Virtual memory (bytes) snapshot"}
	CommittedHeapBytes         = ID{GroupFramework, "Total committed heap usage (bytes)"}
	PeakMapPhysicalBytes       = ID{GroupFramework, "Peak Map Physical memory (bytes)"}
	PeakMapVirtualBytes        = ID{GroupFramework, "Peak Map Virtual memory (bytes)"}
	PeakReducePhysicalBytes    = ID{GroupFramework, "Peak Reduce Physical memory (bytes)"}
	PeakReduceVirtualBytes     = ID{GroupFramework, "Peak Reduce Virtual memory (bytes)"}
)

// What went wrong while reduces fetched map outputs.
var (
	ShuffleErrorBadID       = ID{GroupShuffleErrors, "BAD_ID"}
	ShuffleErrorConnection  = ID{GroupShuffleErrors, "CONNECTION"}
	ShuffleErrorIO          = ID{GroupShuffleErrors, "IO_ERROR"}
	ShuffleErrorWrongLength = ID{GroupShuffleErrors, "WRONG_LENGTH"}
	ShuffleErrorWrongMap    = ID{GroupShuffleErrors, "WRONG_MAP"}
	ShuffleErrorWrongReduce = ID{GroupShuffleErrors, "WRONG_REDUCE"}
)

// Bytes that input formats read (compressed, where the file is) and output
// formats wrote.
var (
	BytesRead    = ID{GroupInputFormat, "Bytes Read"}
	BytesWritten = ID{GroupOutputFormat, "Bytes Written"}
)
