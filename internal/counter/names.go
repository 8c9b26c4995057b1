package counter

import "strings"

// Display names of the engine's groups. The trailing spaces are Hadoop's.
const (
	GroupFileSystem    = "File System Counters"
	GroupJob           = "Job Counters "
	GroupFramework     = "Map-Reduce Framework"
	GroupShuffleErrors = "Shuffle Errors"
	GroupInputFormat   = "File Input Format Counters "
	GroupOutputFormat  = "File Output Format Counters "
)

// groupRank is the order in which Hadoop prints the groups.
var groupRank = ranks(GroupFileSystem, GroupJob, GroupFramework, GroupShuffleErrors, GroupInputFormat, GroupOutputFormat)

// kind says how a job shows a counter.
type kind int

const (
	ifCounted   kind = iota // the sum, if any attempt has counted it
	always                  // the sum, of every job, 0 if need be
	withReduces             // the sum, of every job with reduces, 0 if need be
	highest                 // the highest value of its attempts, if any has counted it
)

// The engine's counters, as declare registers them. To add a counter, add its
// line below: the line's place is its place in Hadoop's listing.
var (
	declared    []ID
	kinds       = make(map[ID]kind)
	counterRank = make(map[ID]int)
)

func declare(group, name string, k kind) ID {
	id := ID{group, name}
	counterRank[id] = len(declared)
	declared = append(declared, id)
	kinds[id] = k
	return id
}

// Counters of the job as a whole: what was launched, where, and for how long.
// The jobmaster counts them; tasks never do.
var (
	FailedMaps           = declare(GroupJob, "Failed map tasks", ifCounted)
	FailedReduces        = declare(GroupJob, "Failed reduce tasks", ifCounted)
	KilledMaps           = declare(GroupJob, "Killed map tasks", ifCounted)
	KilledReduces        = declare(GroupJob, "Killed reduce tasks", ifCounted)
	LaunchedMaps         = declare(GroupJob, "Launched map tasks", ifCounted)
	LaunchedReduces      = declare(GroupJob, "Launched reduce tasks", ifCounted)
	OtherLocalMaps       = declare(GroupJob, "Other local map tasks", ifCounted)
	DataLocalMaps        = declare(GroupJob, "Data-local map tasks", ifCounted)
	RackLocalMaps        = declare(GroupJob, "Rack-local map tasks", ifCounted)
	SlotMillisMaps       = declare(GroupJob, "Total time spent by all maps in occupied slots (ms)", ifCounted)
	SlotMillisReduces    = declare(GroupJob, "Total time spent by all reduces in occupied slots (ms)", ifCounted)
	PreemptRequests      = declare(GroupJob, "Tasks that have been asked to preempt", ifCounted)
	Checkpoints          = declare(GroupJob, "Number of checkpoints reported", ifCounted)
	CheckpointBytes      = declare(GroupJob, "Total amount of bytes in checkpoints", ifCounted)
	CheckpointMillis     = declare(GroupJob, "Total time spent checkpointing (ms)", ifCounted)
	WorkLostMillis       = declare(GroupJob, "Work lost to preemption (ms)", ifCounted)
	WorkKeptMillis       = declare(GroupJob, "Work conserved by preemption (ms)", ifCounted)
	MillisMaps           = declare(GroupJob, "Total time spent by all map tasks (ms)", ifCounted)
	MillisReduces        = declare(GroupJob, "Total time spent by all reduce tasks (ms)", ifCounted)
	VcoreMillisMaps      = declare(GroupJob, "Total vcore-milliseconds taken by all map tasks", ifCounted)
	VcoreMillisReduces   = declare(GroupJob, "Total vcore-milliseconds taken by all reduce tasks", ifCounted)
	MegabyteMillisMaps   = declare(GroupJob, "Total megabyte-milliseconds taken by all map tasks", ifCounted)
	MegabyteMillisReduce = declare(GroupJob, "Total megabyte-milliseconds taken by all reduce tasks", ifCounted)
)

// Counters of the work that tasks do.
var (
	MapInputRecords            = declare(GroupFramework, "Map input records", always)
	MapOutputRecords           = declare(GroupFramework, "Map output records", always)
	MapSkippedRecords          = declare(GroupFramework, "Map skipped records", ifCounted)
	MapOutputBytes             = declare(GroupFramework, "Map output bytes", withReduces)
	MapOutputMaterializedBytes = declare(GroupFramework, "Map output materialized bytes", withReduces)
	InputSplitBytes            = declare(GroupFramework, "Input split bytes", always)
	CombineInputRecords        = declare(GroupFramework, "Combine input records", withReduces)
	CombineOutputRecords       = declare(GroupFramework, "Combine output records", withReduces)
	ReduceInputGroups          = declare(GroupFramework, "Reduce input groups", withReduces)
	ReduceShuffleBytes         = declare(GroupFramework, "Reduce shuffle bytes", withReduces)
	ReduceInputRecords         = declare(GroupFramework, "Reduce input records", withReduces)
	ReduceOutputRecords        = declare(GroupFramework, "Reduce output records", withReduces)
	ReduceSkippedGroups        = declare(GroupFramework, "Reduce skipped groups", ifCounted)
	ReduceSkippedRecords       = declare(GroupFramework, "Reduce skipped records", ifCounted)
	SpilledRecords             = declare(GroupFramework, "Spilled Records", always)
	ShuffledMaps               = declare(GroupFramework, "Shuffled Maps ", withReduces)
	FailedShuffles             = declare(GroupFramework, "Failed Shuffles", always)
	MergedMapOutputs           = declare(GroupFramework, "Merged Map outputs", always)
	GCTimeMillis               = declare(GroupFramework, "GC time elapsed (ms)", always)
	CPUTimeMillis              = declare(GroupFramework, "CPU time spent (ms)", ifCounted)
	PhysicalMemoryBytes        = declare(GroupFramework, "Physical memory (bytes) snapshot", ifCounted)
	VirtualMemoryBytes         = declare(GroupFramework, "Virtual memory (bytes) snapshot", ifCounted)
	CommittedHeapBytes         = declare(GroupFramework, "Total committed heap usage (bytes)", always)
	PeakMapPhysicalBytes       = declare(GroupFramework, "Peak Map Physical memory (bytes)", highest)
	PeakMapVirtualBytes        = declare(GroupFramework, "Peak Map Virtual memory (bytes)", highest)
	PeakReducePhysicalBytes    = declare(GroupFramework, "Peak Reduce Physical memory (bytes)", highest)
	PeakReduceVirtualBytes     = declare(GroupFramework, "Peak Reduce Virtual memory (bytes)", highest)
)

// Counters of failed fetches of map outputs.
var (
	ShuffleErrorBadID       = declare(GroupShuffleErrors, "BAD_ID", withReduces)
	ShuffleErrorConnection  = declare(GroupShuffleErrors, "CONNECTION", withReduces)
	ShuffleErrorIO          = declare(GroupShuffleErrors, "IO_ERROR", withReduces)
	ShuffleErrorWrongLength = declare(GroupShuffleErrors, "WRONG_LENGTH", withReduces)
	ShuffleErrorWrongMap    = declare(GroupShuffleErrors, "WRONG_MAP", withReduces)
	ShuffleErrorWrongReduce = declare(GroupShuffleErrors, "WRONG_REDUCE", withReduces)
)

// Counters of the bytes that input formats read (compressed bytes of compressed
// files) and output formats wrote.
var (
	BytesRead    = declare(GroupInputFormat, "Bytes Read", always)
	BytesWritten = declare(GroupOutputFormat, "Bytes Written", always)
)

// Hadoop's counters of a file system. Each is printed after the file system's
// scheme in capitals ("HDFS: Number of bytes read").
const (
	fsBytesRead     = "Number of bytes read"
	fsBytesWritten  = "Number of bytes written"
	fsReadOps       = "Number of read operations"
	fsLargeReadOps  = "Number of large read operations"
	fsWriteOps      = "Number of write operations"
	schemeSeparator = ": "
)

// fileSystemRank is the order in which Hadoop prints the counters of a file
// system; each job shows all of them.
var fileSystemRank = ranks(fsBytesRead, fsBytesWritten, fsReadOps, fsLargeReadOps, fsWriteOps)

// FSBytesRead counts bytes read from the file system of a scheme ("file",
// "hdfs"; "" is "file").
func FSBytesRead(scheme string) ID { return fileSystem(scheme, fsBytesRead) }

// FSBytesWritten counts bytes written to the file system of a scheme.
func FSBytesWritten(scheme string) ID { return fileSystem(scheme, fsBytesWritten) }

// FSReadOps counts opened, listed and examined files.
func FSReadOps(scheme string) ID { return fileSystem(scheme, fsReadOps) }

// FSWriteOps counts created, renamed and removed files.
func FSWriteOps(scheme string) ID { return fileSystem(scheme, fsWriteOps) }

func fileSystem(scheme, name string) ID {
	return ID{GroupFileSystem, schemePrefix(scheme) + name}
}

func schemePrefix(scheme string) string {
	if scheme == "" {
		scheme = "file"
	}
	return strings.ToUpper(scheme) + schemeSeparator
}
