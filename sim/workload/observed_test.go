package workload

import (
	"strings"
	"testing"
)

const twoMachines = `{"type":"job","version":1,"job":{"jobId":"job_1_0001","submitTime":"1000","finishTime":"9000"}}
{"type":"task","task":{"id":"task_1_0001_m_000000","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_SUCCEEDED","startTime":"2000","finishTime":"3000"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000001","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_SUCCEEDED","startTime":"3000","finishTime":"5000"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000002","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_KILLED","startTime":"4000","finishTime":"4500"},{"node":"b","state":"ATTEMPT_SUCCEEDED","startTime":"4500","finishTime":"5000"}]}}
{"type":"task","task":{"id":"task_1_0001_r_000000","kind":"REDUCE","attempts":[{"node":"b","state":"ATTEMPT_SUCCEEDED","startTime":"4000","finishTime":"8000"}]}}
{"type":"end","tasks":4}
`

func TestObservedCluster(t *testing.T) {
	w, err := ReadHistory(strings.NewReader(twoMachines), "h", Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A slot is free for the next at the moment at which an attempt ends.
	if want := (ObservedCluster{Machines: 2, MapSlots: 2, ReduceSlots: 1}); w.Observed != want {
		t.Errorf("%+v, want %+v", w.Observed, want)
	}
	if w.Jobs[0].Recorded != 8000 {
		t.Errorf("recorded %d ms, want 8000", w.Jobs[0].Recorded)
	}
	if w, err := ReadHistory(strings.NewReader(history1), "h", Options{}); err != nil || w.Observed != (ObservedCluster{}) {
		t.Errorf("without names of machines: %+v, %v", w.Observed, err)
	}
}
