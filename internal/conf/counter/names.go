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

// kind selects how a job shows a counter.
type kind int

const (
	ifCounted   kind = iota // show the sum, if any attempt has counted
	always                  // show the sum in every job, even if it is 0
	withReduces             // show the sum in every job with reduces, even if it is 0
	highest                 // show the highest value of the attempts, if any has counted
)

// The engine's counters, as declare registers them. To add a counter, add its
// line below: the line's place is its place in Hadoop's listing.
var (
	declared    []ID
	kinds       = make(map[ID]kind)
	counterRank = make(map[ID]int)
)

// declare registers a counter. The order of calls is the order of the listing.
func declare(group, name string, k kind) ID {
	id := ID{group, name}
	counterRank[id] = len(declared)
	declared = append(declared, id)
	kinds[id] = k
	return id
}

// ofJob, ofTasks and ofShuffle declare counters of one group.
func ofJob(name string) ID           { return declare(GroupJob, name, ifCounted) }
func ofTasks(name string, k kind) ID { return declare(GroupFramework, name, k) }
func ofShuffle(name string) ID       { return declare(GroupShuffleErrors, name, withReduces) }

// Counters of the job as a whole: the number of launched tasks, their locality and their
// time. The jobmaster counts them; tasks never do.
var (
	FailedMaps           = ofJob("Failed map tasks")
	FailedReduces        = ofJob("Failed reduce tasks")
	KilledMaps           = ofJob("Killed map tasks")
	KilledReduces        = ofJob("Killed reduce tasks")
	LaunchedMaps         = ofJob("Launched map tasks")
	LaunchedReduces      = ofJob("Launched reduce tasks")
	OtherLocalMaps       = ofJob("Other local map tasks")
	DataLocalMaps        = ofJob("Data-local map tasks")
	RackLocalMaps        = ofJob("Rack-local map tasks")
	SlotMillisMaps       = ofJob("Total time spent by all maps in occupied slots (ms)")
	SlotMillisReduces    = ofJob("Total time spent by all reduces in occupied slots (ms)")
	PreemptRequests      = ofJob("Tasks that have been asked to preempt")
	Checkpoints          = ofJob("Number of checkpoints reported")
	CheckpointBytes      = ofJob("Total amount of bytes in checkpoints")
	CheckpointMillis     = ofJob("Total time spent checkpointing (ms)")
	WorkLostMillis       = ofJob("Work lost to preemption (ms)")
	WorkKeptMillis       = ofJob("Work conserved by preemption (ms)")
	MillisMaps           = ofJob("Total time spent by all map tasks (ms)")
	MillisReduces        = ofJob("Total time spent by all reduce tasks (ms)")
	VcoreMillisMaps      = ofJob("Total vcore-milliseconds taken by all map tasks")
	VcoreMillisReduces   = ofJob("Total vcore-milliseconds taken by all reduce tasks")
	MegabyteMillisMaps   = ofJob("Total megabyte-milliseconds taken by all map tasks")
	MegabyteMillisReduce = ofJob("Total megabyte-milliseconds taken by all reduce tasks")
)

// Counters of the work that tasks do.
var (
	MapInputRecords            = ofTasks("Map input records", always)
	MapOutputRecords           = ofTasks("Map output records", always)
	MapSkippedRecords          = ofTasks("Map skipped records", ifCounted)
	MapOutputBytes             = ofTasks("Map output bytes", withReduces)
	MapOutputMaterializedBytes = ofTasks("Map output materialized bytes", withReduces)
	InputSplitBytes            = ofTasks("Input split bytes", always)
	CombineInputRecords        = ofTasks("Combine input records", withReduces)
	CombineOutputRecords       = ofTasks("Combine output records", withReduces)
	ReduceInputGroups          = ofTasks("Reduce input groups", withReduces)
	ReduceShuffleBytes         = ofTasks("Reduce shuffle bytes", withReduces)
	ReduceInputRecords         = ofTasks("Reduce input records", withReduces)
	ReduceOutputRecords        = ofTasks("Reduce output records", withReduces)
	ReduceSkippedGroups        = ofTasks("Reduce skipped groups", ifCounted)
	ReduceSkippedRecords       = ofTasks("Reduce skipped records", ifCounted)
	SpilledRecords             = ofTasks("Spilled Records", always)
	ShuffledMaps               = ofTasks("Shuffled Maps ", withReduces)
	FailedShuffles             = ofTasks("Failed Shuffles", always)
	MergedMapOutputs           = ofTasks("Merged Map outputs", always)
	GCTimeMillis               = ofTasks("GC time elapsed (ms)", always)
	CPUTimeMillis              = ofTasks("CPU time spent (ms)", ifCounted)
	PhysicalMemoryBytes        = ofTasks("Physical memory (bytes) snapshot", ifCounted)
	VirtualMemoryBytes         = ofTasks("Virtual memory (bytes) snapshot", ifCounted)
	CommittedHeapBytes         = ofTasks("Total committed heap usage (bytes)", always)
	PeakMapPhysicalBytes       = ofTasks("Peak Map Physical memory (bytes)", highest)
	PeakMapVirtualBytes        = ofTasks("Peak Map Virtual memory (bytes)", highest)
	PeakReducePhysicalBytes    = ofTasks("Peak Reduce Physical memory (bytes)", highest)
	PeakReduceVirtualBytes     = ofTasks("Peak Reduce Virtual memory (bytes)", highest)
)

// Counters of failed fetches of map outputs.
var (
	ShuffleErrorBadID       = ofShuffle("BAD_ID")
	ShuffleErrorConnection  = ofShuffle("CONNECTION")
	ShuffleErrorIO          = ofShuffle("IO_ERROR")
	ShuffleErrorWrongLength = ofShuffle("WRONG_LENGTH")
	ShuffleErrorWrongMap    = ofShuffle("WRONG_MAP")
	ShuffleErrorWrongReduce = ofShuffle("WRONG_REDUCE")
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
