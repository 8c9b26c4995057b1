package counter

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStringIsHadoopsListing(t *testing.T) {
	v := make(Values)
	v.FillZeros(Shape{Reduces: true, Schemes: []string{"hdfs"}})
	v.Add(FSBytesRead("hdfs"), 1234)
	v.Add(FSBytesWritten(""), 99)
	v.Add(LaunchedMaps, 2)
	v.Add(LaunchedReduces, 1)
	v.Add(DataLocalMaps, 2)
	v.Add(MapInputRecords, 7)
	v.Add(CPUTimeMillis, 1500)
	v.Add(PeakReducePhysicalBytes, 4096)
	v.Add(ID{"Words", "long"}, 3)
	v.Add(ID{"Words", "SHORT"}, -1)
	v.Add(ID{"Apples", "red"}, 1)

	want := strings.TrimPrefix(`
Counters: 43
	File System Counters
		FILE: Number of bytes read=0
		FILE: Number of bytes written=99
		FILE: Number of read operations=0
		FILE: Number of large read operations=0
		FILE: Number of write operations=0
		HDFS: Number of bytes read=1234
		HDFS: Number of bytes written=0
		HDFS: Number of read operations=0
		HDFS: Number of large read operations=0
		HDFS: Number of write operations=0
	Job Counters `+`
		Launched map tasks=2
		Launched reduce tasks=1
		Data-local map tasks=2
	Map-Reduce Framework
		Map input records=7
		Map output records=0
		Map output bytes=0
		Map output materialized bytes=0
		Input split bytes=0
		Combine input records=0
		Combine output records=0
		Reduce input groups=0
		Reduce shuffle bytes=0
		Reduce input records=0
		Reduce output records=0
		Spilled Records=0
		Shuffled Maps =0
		Failed Shuffles=0
		Merged Map outputs=0
		GC time elapsed (ms)=0
		CPU time spent (ms)=1500
		Total committed heap usage (bytes)=0
		Peak Reduce Physical memory (bytes)=4096
	Shuffle Errors
		BAD_ID=0
		CONNECTION=0
		IO_ERROR=0
		WRONG_LENGTH=0
		WRONG_MAP=0
		WRONG_REDUCE=0
	File Input Format Counters `+`
		Bytes Read=0
	File Output Format Counters `+`
		Bytes Written=0
	Apples
		red=1
	Words
		SHORT=-1
		long=3`, "\n")
	if diff := cmp.Diff(want, v.String()); diff != "" {
		t.Errorf("listing (-want +got):\n%s", diff)
	}
}

func TestMapOnlyJobHasNoShuffleCounters(t *testing.T) {
	v := make(Values)
	v.FillZeros(Shape{})
	if got := v.Groups(); slices.Contains(got, GroupShuffleErrors) {
		t.Errorf("groups of a map-only job: %q", got)
	}
	if names := v.Names(GroupFramework); slices.Contains(names, ReduceInputGroups.Name) {
		t.Errorf("framework counters of a map-only job: %q", names)
	}
}

func TestFillZerosKeepsCounts(t *testing.T) {
	v := make(Values)
	v.Add(SpilledRecords, 12)
	v.FillZeros(Shape{Reduces: true})
	if got := v.Get(SpilledRecords); got != 12 {
		t.Errorf("Spilled Records = %d, want 12", got)
	}
}

func TestEveryCounterIsDeclaredOnce(t *testing.T) {
	seen := make(map[ID]bool)
	for _, id := range declared {
		if seen[id] {
			t.Errorf("%q is declared twice", id)
		}
		seen[id] = true
		if _, ok := groupRank[id.Group]; !ok {
			t.Errorf("%q is in a group without a rank", id)
		}
	}
	if len(seen) != len(counterRank) || len(seen) != len(kinds) {
		t.Errorf("%d counters, %d ranks, %d kinds", len(seen), len(counterRank), len(kinds))
	}
}
