package counter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Order of the groups that the engine itself counts in. User groups follow.
var groupOrder = []string{
	GroupFileSystem, GroupJob, GroupFramework, GroupShuffleErrors, GroupInputFormat, GroupOutputFormat,
}

// Order of the counters in the engine's groups: that of Hadoop's enumerations,
// by which it prints them. The file systems have an order of their own.
var counterOrder = []ID{
	FailedMaps, FailedReduces, KilledMaps, KilledReduces, LaunchedMaps, LaunchedReduces,
	OtherLocalMaps, DataLocalMaps, RackLocalMaps, SlotMillisMaps, SlotMillisReduces,
	PreemptRequests, Checkpoints, CheckpointBytes, CheckpointMillis, WorkLostMillis, WorkKeptMillis,
	MillisMaps, MillisReduces, VcoreMillisMaps, VcoreMillisReduces,
	MegabyteMillisMaps, MegabyteMillisReduce,

	MapInputRecords, MapOutputRecords, MapSkippedRecords, MapOutputBytes,
	MapOutputMaterializedBytes, InputSplitBytes, CombineInputRecords, CombineOutputRecords,
	ReduceInputGroups, ReduceShuffleBytes, ReduceInputRecords, ReduceOutputRecords,
	ReduceSkippedGroups, ReduceSkippedRecords, SpilledRecords, ShuffledMaps, FailedShuffles,
	MergedMapOutputs, GCTimeMillis, CPUTimeMillis, PhysicalMemoryBytes, VirtualMemoryBytes,
	CommittedHeapBytes, PeakMapPhysicalBytes, PeakMapVirtualBytes, PeakReducePhysicalBytes,
	PeakReduceVirtualBytes,

	ShuffleErrorBadID, ShuffleErrorConnection, ShuffleErrorIO, ShuffleErrorWrongLength,
	ShuffleErrorWrongMap, ShuffleErrorWrongReduce,

	BytesRead, BytesWritten,
}

var (
	groupRank   = ranks(groupOrder)
	counterRank = ranks(counterOrder)
	fsRank      = ranks(fileSystemOrder)
)

func ranks[T comparable](order []T) map[T]int {
	m := make(map[T]int, len(order))
	for i, v := range order {
		m[v] = i
	}
	return m
}

// rankOf is the place of v in its order; what has no place comes last.
func rankOf[T comparable](m map[T]int, v T) int {
	if r, ok := m[v]; ok {
		return r
	}
	return len(m)
}

// Groups is the names of the groups in the order in which Hadoop prints them,
// and after these the user's groups, sorted.
func (v Values) Groups() []string {
	return slices.SortedFunc(maps.Keys(v), func(a, b string) int {
		return cmp.Or(cmp.Compare(rankOf(groupRank, a), rankOf(groupRank, b)), cmp.Compare(a, b))
	})
}

// Names is the counters of one group in the order in which Hadoop prints them;
// those that Hadoop does not know are sorted by name behind.
func (v Values) Names(group string) []string {
	rank := func(name string) int { return rankOf(counterRank, ID{group, name}) }
	if group == GroupFileSystem {
		return slices.SortedFunc(maps.Keys(v[group]), compareFileSystem)
	}
	return slices.SortedFunc(maps.Keys(v[group]), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// compareFileSystem orders by scheme first, then by Hadoop's order.
func compareFileSystem(a, b string) int {
	schemeA, nameA, _ := strings.Cut(a, schemeSeparator)
	schemeB, nameB, _ := strings.Cut(b, schemeSeparator)
	return cmp.Or(
		cmp.Compare(schemeA, schemeB),
		cmp.Compare(rankOf(fsRank, nameA), rankOf(fsRank, nameB)),
		cmp.Compare(a, b))
}
