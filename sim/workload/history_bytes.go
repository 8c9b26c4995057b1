package workload

// spreadBytes gives the maps equal parts of the input, and each reduce its
// partition: that is what histories and reports tell.
func spreadBytes(j *loggedJob, input int64, partitions []int64) {
	maps := 0
	for _, t := range j.tasks {
		if !t.reduce {
			maps++
		}
	}
	parts, reduces := equalParts(maps, max(0, input)), 0
	for i := range j.tasks {
		t := &j.tasks[i]
		switch {
		case !t.reduce:
			t.bytes, parts = parts[0].Bytes, parts[1:]
		case reduces < len(partitions):
			t.bytes = max(0, partitions[reduces])
			reduces++
		}
	}
}

// appendPartition sets the bytes of a partition. They come by number; one far
// from where it belongs is passed over, since its size would be anyone's guess.
func appendPartition(list []int64, number int, bytes int64) []int64 {
	if number != len(list) {
		return list
	}
	return append(list, bytes)
}
