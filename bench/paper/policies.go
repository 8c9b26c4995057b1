package paper

import (
	"strconv"

	"github.com/hammr/hammr/sched/registry"
)

// Settings of policies, by their names in sched/registry.
const (
	chronosBase    = registry.ChronosPolicy
	chronosSameJob = "hammr.chronos.same-job"
	hfspEstimator  = "hammr.hfsp.estimator"
)

// sizeError makes HFSP mistake the sizes of jobs, uniformly by up to the part a.
func sizeError(t *Trial, a float64) {
	t.set("hammr.hfsp.size-error", strconv.FormatFloat(a, 'g', -1, 64))
	t.set("hammr.hfsp.size-error-law", "uniform")
	t.set("hammr.hfsp.seed", strconv.FormatUint(t.Seed, 10))
}
