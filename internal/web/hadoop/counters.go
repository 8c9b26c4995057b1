package hadoop

import (
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/wire"
)

// groups describes counters in Hadoop's order, under the names that its programs use.
func groups(v counter.Values, describe func(id counter.ID, name string) object) (all []object) {
	at := make(map[string]int) // place in all, by name
	for _, group := range v.Groups() {
		byName := make(map[string][]object)
		var order []string
		for _, name := range v.Names(group) {
			id := counter.ID{Group: group, Name: name}
			in, is := id.HadoopName()
			if byName[in] == nil {
				order = append(order, in)
			}
			byName[in] = append(byName[in], describe(id, is))
		}
		for _, in := range order {
			if _, known := at[in]; !known {
				at[in] = len(all)
				all = append(all, object{{"counterGroupName", in}, {"counter", byName[in]}})
			}
		}
	}
	return all
}

// kindSums adds up the counters of the finished tasks of each kind.
func (j *job) kindSums() (maps, reduces counter.Values) {
	maps, reduces = make(counter.Values), make(counter.Values)
	for _, t := range j.Tasks {
		sums := maps
		if isReduce(t) {
			sums = reduces
		}
		addCounts(sums, j.CounterNames, t.Counts)
	}
	return maps, reduces
}

func addCounts(sums counter.Values, names []*wire.CounterName, counts []int64) {
	for i, n := range counts[:min(len(counts), len(names))] {
		sums.Add(counter.ID{Group: names[i].Group, Name: names[i].Name}, n)
	}
}

// jobCounters answers with the counters of a job. The columns of maps and reduces have the finished
// tasks, and the total has the running attempts too.
func jobCounters(c *Call) (*document, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	total := report.Counters(j.JobStatus)
	maps, reduces := j.kindSums()
	return &document{root: "jobCounters", body: object{{"id", j.JobId}, {"counterGroup", groups(total, func(id counter.ID, name string) object {
		return object{{"name", name}, {"totalCounterValue", total.Get(id)}, {"mapCounterValue", maps.Get(id)}, {"reduceCounterValue", reduces.Get(id)}}
	})}}}, nil
}

// countsOf describes the counters of one finished task.
func countsOf(j *job, t *wire.TaskStatus) []object {
	v := make(counter.Values)
	addCounts(v, j.CounterNames, t.Counts)
	return groups(v, func(id counter.ID, name string) object { return object{{"name", name}, {"value", v.Get(id)}} })
}

func taskCounters(c *Call) (*document, error) {
	j, t, _, err := c.taskOf()
	if err != nil {
		return nil, err
	}
	return &document{root: "jobTaskCounters", body: object{{"id", t.Id}, {"taskCounterGroup", countsOf(j, t)}}}, nil
}

// attemptCounters answers with the counters of an attempt. Those of an attempt that did not succeed
// are not kept.
func attemptCounters(c *Call) (*document, error) {
	j, t, a, _, err := c.attemptOf()
	if err != nil {
		return nil, err
	}
	var all []object
	if a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
		all = countsOf(j, t)
	}
	return &document{root: "jobTaskAttemptCounters", body: object{{"id", a.Id}, {"taskAttemptCounterGroup", all}}}, nil
}
