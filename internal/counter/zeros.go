package counter

// Shape is what decides which counters a job shows even when they are 0.
type Shape struct {
	Reduces bool     // the job has reduce tasks
	Schemes []string // of the file systems that the job uses beside "file"
}

// Counters that every job has, and those that come with reduces.
var (
	zerosOfMaps = []ID{
		MapInputRecords, MapOutputRecords, InputSplitBytes, SpilledRecords, FailedShuffles,
		MergedMapOutputs, GCTimeMillis, CommittedHeapBytes, BytesRead, BytesWritten,
	}
	zerosOfReduces = []ID{
		MapOutputBytes, MapOutputMaterializedBytes, CombineInputRecords, CombineOutputRecords,
		ReduceInputGroups, ReduceShuffleBytes, ReduceInputRecords, ReduceOutputRecords, ShuffledMaps,
		ShuffleErrorBadID, ShuffleErrorConnection, ShuffleErrorIO, ShuffleErrorWrongLength,
		ShuffleErrorWrongMap, ShuffleErrorWrongReduce,
	}
)

// FillZeros adds, at 0, the counters that Hadoop prints for a job of this shape
// whatever happened in it, so that scripts which look for one find it.
func (v Values) FillZeros(s Shape) {
	for _, id := range zerosOfMaps {
		v.Add(id, 0)
	}
	if s.Reduces {
		for _, id := range zerosOfReduces {
			v.Add(id, 0)
		}
	}
	for _, scheme := range append([]string{"file"}, s.Schemes...) {
		for _, name := range fileSystemOrder {
			v.Add(fileSystem(scheme, name), 0)
		}
	}
}
