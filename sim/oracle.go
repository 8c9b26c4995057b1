package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim/workload"
)

// Oracle knows how long the tasks of a workload's jobs take, as policies that go by
// sizes may be told (sched.Setup).
func Oracle(w *workload.Workload) func(*cluster.Job, cluster.Slot) (ms int64, ok bool) {
	sizes := make(map[string][2]int64)
	for i := range w.Jobs {
		j := &w.Jobs[i]
		sizes[j.ID] = [2]int64{workload.Sum(j.Maps).Millis, workload.Sum(j.Reduces).Millis}
	}
	return func(j *cluster.Job, kind cluster.Slot) (int64, bool) {
		size, known := sizes[j.Spec.Name]
		return size[kind], known
	}
}
