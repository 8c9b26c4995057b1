package cluster

// count adds the counters of a task that has finished.
func (j *Job) count(t *Task, counters []Counter) {
	if j.nameIndex == nil {
		j.nameIndex = make(map[CounterName]int)
	}
	for _, c := range counters {
		if _, known := j.nameIndex[c.CounterName]; !known {
			j.nameIndex[c.CounterName] = len(j.names)
			j.names = append(j.names, c.CounterName)
			j.sums = append(j.sums, 0)
		}
	}
	t.counts = make([]int64, len(j.names))
	for _, c := range counters {
		i := j.nameIndex[c.CounterName]
		t.counts[i] += c.Value
		j.sums[i] += c.Value
	}
}

// uncount subtracts them again when the task has to run again.
func (j *Job) uncount(t *Task) {
	for i, v := range t.counts {
		j.sums[i] -= v
	}
	t.counts = nil
}
