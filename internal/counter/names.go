package counter

// Group display names, in the order in which Hadoop prints them.
const (
	GroupFileSystem    = "File System Counters"
	GroupJob           = "Job Counters "
	GroupFramework     = "Map-Reduce Framework"
	GroupShuffleErrors = "Shuffle Errors"
	GroupInputFormat   = "File Input Format Counters "
	GroupOutputFormat  = "File Output Format Counters "
)

// Counters of the framework, by Hadoop's display names.
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
	SpilledRecords             = ID{GroupFramework, "Spilled Records"}
	ShuffledMaps               = ID{GroupFramework, "Shuffled Maps "}
	FailedShuffles             = ID{GroupFramework, "Failed Shuffles"}
	MergedMapOutputs           = ID{GroupFramework, "Merged Map outputs"}
	GCTimeMillis               = ID{GroupFramework, "GC time elapsed (ms)"}
	CPUTimeMillis              = ID{GroupFramework, "CPU time spent (ms)"}
	PhysicalMemoryBytes        = ID{GroupFramework, "Physical memory (bytes) snapshot"}
	VirtualMemoryBytes         = ID{GroupFramework, "Virtual memory (bytes) snapshot"}
	CommittedHeapBytes         = ID{GroupFramework, "Total committed heap usage (bytes)"}
	BytesRead                  = ID{GroupInputFormat, "Bytes Read"}
	BytesWritten               = ID{GroupOutputFormat, "Bytes Written"}
	ShuffleErrorIO             = ID{GroupShuffleErrors, "IO_ERROR"}
)
