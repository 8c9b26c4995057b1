package paper

import (
	"strconv"

	"github.com/hammr/hammr/sched/registry"
)

// Settings of policies, as sched/registry calls them.
const (
	chronosBase    = registry.ChronosPolicy
	chronosSameJob = "hammr.chronos.same-job"
	hfspEstimator  = "hammr.hfsp.estimator"
)

// sizeError has HFSP mistake the sizes of jobs, evenly by up to a of them.
func sizeError(t *Trial, a float64) {
	t.set("hammr.hfsp.size-error", strconv.FormatFloat(a, 'g', -1, 64))
	t.set("hammr.hfsp.size-error-law", "uniform")
	t.set("hammr.hfsp.seed", strconv.FormatUint(t.Seed, 10))
}
