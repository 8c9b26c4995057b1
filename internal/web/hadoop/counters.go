package hadoop

import (
	"errors"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
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

// jobCounters answers with the counters of a job. Running attempts count as they last reported. The
// total of what tasks count is the sum of its columns, although the job may have changed between the two
// questions.
func jobCounters(c *Call, r report.Report) *document {
	types, err := docs.TypeCounters.Read(c.ctx, c.Source, docs.JobID{Job: r.JobID})
	if !errors.Is(err, docs.ErrUnknown) {
		c.fail(err)
	}
	maps, reduces := types.Value["MAP"], types.Value["REDUCE"]
	return &document{root: "jobCounters", body: object{{"id", r.JobID}, {"counterGroup", groups(r.Counters, func(id counter.ID, name string) object {
		total := r.Counters.Get(id)
		if kinds := maps.Get(id) + reduces.Get(id); kinds > 0 {
			total = kinds
		}
		return object{{"name", name}, {"totalCounterValue", total}, {"mapCounterValue", maps.Get(id)}, {"reduceCounterValue", reduces.Get(id)}}
	})}}}
}

// countsOf describes the counters of one finished task.
func countsOf(t jobTask) []object {
	v := make(counter.Values)
	for i, n := range t.Counts[:min(len(t.Counts), len(t.job.CounterNames))] {
		v.Add(counter.ID{Group: t.job.CounterNames[i].Group, Name: t.job.CounterNames[i].Name}, n)
	}
	return groups(v, func(id counter.ID, name string) object { return object{{"name", name}, {"value", v.Get(id)}} })
}

func taskCounters(_ *Call, t jobTask) *document {
	return &document{root: "jobTaskCounters", body: object{{"id", t.Id}, {"taskCounterGroup", countsOf(t)}}}
}

// attemptCounters answers with the counters of an attempt. Those of an attempt that did not succeed
// are not kept.
func attemptCounters(_ *Call, a jobAttempt) *document {
	var all []object
	if a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
		all = countsOf(a.task)
	}
	return &document{root: "jobTaskAttemptCounters", body: object{{"id", a.Id}, {"taskAttemptCounterGroup", all}}}
}
