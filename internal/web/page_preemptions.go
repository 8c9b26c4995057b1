package web

import (
	"net/http"
	"slices"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// maxPairs bounds the pairs of pools that a page lists. The call has all.
const maxPairs = 200

func showClusterPreemptions(c *call) error {
	ledger := wanted(c, docs.Preemptions)
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
	ledger := optional(c, docs.Preemptions, docs.PoolQuery{Pool: pool})
	part := func(in func(apidoc.PoolPreemption) bool) []apidoc.PoolPreemption {
		list := slices.DeleteFunc(slices.Clone(ledger.Matrix), func(p apidoc.PoolPreemption) bool { return !in(p) })
		return list[:min(len(list), maxPoolPairs)]
	}
	return poolLedger{
		Taken: part(func(p apidoc.PoolPreemption) bool { return p.Pool == pool }),
		Got:   part(func(p apidoc.PoolPreemption) bool { return p.For == pool && p.Pool != pool }),
	}
}
