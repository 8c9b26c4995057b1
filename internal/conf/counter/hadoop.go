package counter

import "strings"

// Groups as Hadoop's programs name them; listings show the display names.
var hadoopGroups = map[string]string{
	GroupFileSystem:   "org.apache.hadoop.mapreduce.FileSystemCounter",
	GroupJob:          "org.apache.hadoop.mapreduce.JobCounter",
	GroupFramework:    "org.apache.hadoop.mapreduce.TaskCounter",
	GroupInputFormat:  "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter",
	GroupOutputFormat: "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter",
}

// hadoopOwnGroup is the group of the job counters that Hadoop does not have.
const hadoopOwnGroup = "hammr.JobCounter"

// hadoopNames are the constants of Hadoop's enumerations JobCounter, TaskCounter,
// FileInputFormatCounter and FileOutputFormatCounter.
var hadoopNames = map[ID]string{
	FailedMaps: "NUM_FAILED_MAPS", FailedReduces: "NUM_FAILED_REDUCES", KilledMaps: "NUM_KILLED_MAPS", KilledReduces: "NUM_KILLED_REDUCES",
	LaunchedMaps: "TOTAL_LAUNCHED_MAPS", LaunchedReduces: "TOTAL_LAUNCHED_REDUCES",
	OtherLocalMaps: "OTHER_LOCAL_MAPS", DataLocalMaps: "DATA_LOCAL_MAPS", RackLocalMaps: "RACK_LOCAL_MAPS",
	SlotMillisMaps: "SLOTS_MILLIS_MAPS", SlotMillisReduces: "SLOTS_MILLIS_REDUCES",
	PreemptRequests: "TASKS_REQ_PREEMPT", Checkpoints: "CHECKPOINTS", CheckpointBytes: "CHECKPOINT_BYTES", CheckpointMillis: "CHECKPOINT_TIME",
	MillisMaps: "MILLIS_MAPS", MillisReduces: "MILLIS_REDUCES", VcoreMillisMaps: "VCORES_MILLIS_MAPS", VcoreMillisReduces: "VCORES_MILLIS_REDUCES",
	MegabyteMillisMaps: "MB_MILLIS_MAPS", MegabyteMillisReduce: "MB_MILLIS_REDUCES",

	MapInputRecords: "MAP_INPUT_RECORDS", MapOutputRecords: "MAP_OUTPUT_RECORDS", MapSkippedRecords: "MAP_SKIPPED_RECORDS",
	MapOutputBytes: "MAP_OUTPUT_BYTES", MapOutputMaterializedBytes: "MAP_OUTPUT_MATERIALIZED_BYTES", InputSplitBytes: "SPLIT_RAW_BYTES",
	CombineInputRecords: "COMBINE_INPUT_RECORDS", CombineOutputRecords: "COMBINE_OUTPUT_RECORDS",
	ReduceInputGroups: "REDUCE_INPUT_GROUPS", ReduceShuffleBytes: "REDUCE_SHUFFLE_BYTES", ReduceInputRecords: "REDUCE_INPUT_RECORDS",
	ReduceOutputRecords: "REDUCE_OUTPUT_RECORDS", ReduceSkippedGroups: "REDUCE_SKIPPED_GROUPS", ReduceSkippedRecords: "REDUCE_SKIPPED_RECORDS",
	SpilledRecords: "SPILLED_RECORDS", ShuffledMaps: "SHUFFLED_MAPS", FailedShuffles: "FAILED_SHUFFLE", MergedMapOutputs: "MERGED_MAP_OUTPUTS",
	GCTimeMillis: "GC_TIME_MILLIS", CPUTimeMillis: "CPU_MILLISECONDS", PhysicalMemoryBytes: "PHYSICAL_MEMORY_BYTES",
	VirtualMemoryBytes: "VIRTUAL_MEMORY_BYTES", CommittedHeapBytes: "COMMITTED_HEAP_BYTES",
	PeakMapPhysicalBytes: "MAP_PHYSICAL_MEMORY_BYTES_MAX", PeakMapVirtualBytes: "MAP_VIRTUAL_MEMORY_BYTES_MAX",
	PeakReducePhysicalBytes: "REDUCE_PHYSICAL_MEMORY_BYTES_MAX", PeakReduceVirtualBytes: "REDUCE_VIRTUAL_MEMORY_BYTES_MAX",

	BytesRead: "BYTES_READ", BytesWritten: "BYTES_WRITTEN",
	WorkLostMillis: "WORK_LOST_MILLIS", WorkKeptMillis: "WORK_KEPT_MILLIS",
}

// hadoopFileSystem are the ends of the names of file system counters.
var hadoopFileSystem = map[string]string{
	fsBytesRead: "BYTES_READ", fsBytesWritten: "BYTES_WRITTEN", fsReadOps: "READ_OPS", fsLargeReadOps: "LARGE_READ_OPS", fsWriteOps: "WRITE_OPS",
}

// HadoopName returns the names of a counter and of its group in programs of Hadoop, in its REST
// API and in its histories. A user's counter has one name everywhere.
func (id ID) HadoopName() (group, name string) {
	if id == WorkLostMillis || id == WorkKeptMillis {
		return hadoopOwnGroup, hadoopNames[id]
	}
	group, name = hadoopGroups[id.Group], hadoopNames[id]
	if group == "" {
		group = id.Group
	}
	if scheme, end, found := strings.Cut(id.Name, schemeSeparator); id.Group == GroupFileSystem && found && hadoopFileSystem[end] != "" {
		return group, scheme + "_" + hadoopFileSystem[end]
	}
	if name == "" {
		name = id.Name
	}
	return group, name
}
