package jobmaster_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// snapshot returns the state of a master as a file.
func (w *testCluster) snapshot(master int) []byte {
	answer := make(chan *cluster.Snapshot, 1)
	w.logs[master].queue.Put(jobmaster.SnapshotWanted{Answer: answer})
	var b bytes.Buffer
	must.Do(w.t, (<-answer).Encode(&b))
	return b.Bytes()
}

// TestLimitsOfTheLeaderApply configures masters with different limits. Those of the leader apply
// to the entries of every master, so all masters have the same state; a master that applies the log
// from its beginning has it too.
func TestLimitsOfTheLeaderApply(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		for _, jobs := range []int{1, 3, 2} {
			w.configure = func(c *jobmaster.Config) { c.Limits = cluster.DefaultLimits(); c.Limits.JobsPerUser = jobs }
			w.addMaster()
		}
		submitted, accepted := 0, 0
		for _, leader := range []int{0, 1, 0, 2} {
			w.elect(leader)
			synctest.Wait()
			limit := []int{1, 3, 2}[leader]
			for range 3 {
				submitted++
				spec := w.another(1, 0)
				spec.Sequence, spec.OutputDir = uint64(submitted), fmt.Sprint("mem:///out", submitted)
				_, err := w.leader().Submit(w.ctx, w.staged(spec))
				if err == nil {
					accepted++
				}
				refused := err != nil && strings.Contains(err.Error(), fmt.Sprintf("exceed the limit of %d; raise hammr.limits.jobs.per.user", limit))
				if accepted > max(limit, 3) || (err != nil) != refused {
					t.Errorf("with a limit of %d, job %d: %v, %d accepted", limit, submitted, err, accepted)
				}
			}
			synctest.Wait()
			first := w.snapshot(0)
			for m := range w.masters {
				if !bytes.Equal(w.snapshot(m), first) {
					t.Errorf("under leader %d, master %d has another state than master 0", leader, m)
				}
			}
		}
		if accepted != 3 {
			t.Errorf("%d jobs were accepted", accepted)
		}
		w.elect(-1)
		late := w.addMaster()
		w.replay(late)
		synctest.Wait()
		if !bytes.Equal(w.snapshot(late), w.snapshot(0)) {
			t.Error("a master that applies the whole log has another state")
		}
	})
}
