package sched

import (
	"cmp"
	"testing"

	"github.com/hammr/hammr/cluster"
)

func TestSubmissionsInOrder(t *testing.T) {
	id := func(n int) cluster.JobID { return cluster.JobID{Number: n} }
	line := []Submission{{id(9), 2, 70}, {id(3), 0, 10}, {id(4), 0, 10}, {id(1), 0, 20}, {id(2), -1, 5}}
	for i, a := range line {
		for k, b := range line {
			if got := a.Compare(b); got != cmp.Compare(i, k) {
				t.Errorf("job %v against %v is %d", a.Job, b.Job, got)
			}
		}
	}
}
