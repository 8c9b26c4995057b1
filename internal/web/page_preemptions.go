package web

import (
	"net/http"
	"slices"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
)

// preemptionRoutes are the page and the call of the preemptions of the cluster.
func preemptionRoutes() []*Route {
	pool := Param{Name: "pool", Doc: "only slots that were taken from this pool, or for it"}
	return []*Route{
		{Path: "/scheduler/preemptions", Verb: access.View, Object: "pool", Params: page(pool), Serve: showClusterPreemptions, Doc: "Which pools took slots of which, by which modes, and at what cost."},
		{Path: apiRoot + "/scheduler/preemptions", Verb: access.View, Object: "pool", Params: []Param{pool}, Answer: apidoc.PreemptionLedger{}, Serve: answerClusterPreemptions,
			Doc: "Preemptions by mode, and between each two pools."},
	}
}

// ledger returns the preemptions from and for a pool, or all if it is "". A pool that neither has any
// nor exists is an error.
func (c *call) ledger(pool string) (apidoc.PreemptionLedger, error) {
	a, err := c.cfg.Source.Preemptions(c.ctx, pool)
	ledger, err := use(c, a, err)
	if err == nil && pool != "" && len(ledger.Matrix) == 0 {
		_, err = c.pool(pool)
	}
	return ledger, err
}

func answerClusterPreemptions(c *call) error {
	ledger, err := c.ledger(c.params["pool"])
	if err != nil {
		return err
	}
	return c.json(ledger)
}

// maxPairs bounds the pairs of pools that a page lists. The call has all.
const maxPairs = 200

func showClusterPreemptions(c *call) error {
	ledger, err := c.ledger(c.params["pool"])
	if err != nil {
		return err
	}
	all := len(ledger.Matrix)
	ledger.Matrix = ledger.Matrix[:min(all, maxPairs)]
	return c.render(http.StatusOK, "preemptions", "Preemptions", struct {
		apidoc.PreemptionLedger
		LeftOut int
	}{ledger, all - len(ledger.Matrix)}, Command{"the attempts of a job that were preempted last", "hammr job explain JOB"})
}

// poolLedger is who took slots of a pool, and from whom it got slots.
type poolLedger struct {
	Taken []apidoc.PoolPreemption // from it, also for its own jobs
	Got   []apidoc.PoolPreemption // from others
}

// maxPoolPairs bounds the pools in each list of a poolLedger.
const maxPoolPairs = 10

// poolLedger returns the preemptions of a pool. The rest of its page is shown without them.
func (c *call) poolLedger(pool string) poolLedger {
	ledger, err := c.ledger(pool)
	if err != nil {
		return poolLedger{}
	}
	part := func(in func(apidoc.PoolPreemption) bool) []apidoc.PoolPreemption {
		list := slices.DeleteFunc(slices.Clone(ledger.Matrix), func(p apidoc.PoolPreemption) bool { return !in(p) })
		return list[:min(len(list), maxPoolPairs)]
	}
	return poolLedger{
		Taken: part(func(p apidoc.PoolPreemption) bool { return p.Pool == pool }),
		Got:   part(func(p apidoc.PoolPreemption) bool { return p.For == pool && p.Pool != pool }),
	}
}
