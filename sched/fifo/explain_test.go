package fifo

import (
	"fmt"
	"testing"
)

func TestExplainCountsJobsBefore(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.submit(0, 0, "a", "a")
	w.submit(0, 1, "a")
	w.submit(0, 0, "a")
	p := new(Policy)
	p.Reset(w.Now, w.PolicyView())
	last := ""
	for j := range w.View().Jobs() {
		last = fmt.Sprint(p.Explain(w.Now, w.PolicyView(), j))
	}
	if want := "[{priority 0} {jobs before it in the queue 2} {slots that those wait for 3 map, 0 reduce}]"; last != want {
		t.Errorf("the last job: %s, want %s", last, want)
	}
}
