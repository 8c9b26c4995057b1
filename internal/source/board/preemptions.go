package board

import (
	"cmp"
	"context"
	"slices"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/preempt"
)

// preemptions answers docs.Preemptions. A pool that neither has any nor exists is an error.
func (s *Source) preemptions(ctx context.Context, q docs.PoolQuery) (docs.Answer[apidoc.PreemptionLedger], error) {
	rows, since := s.cfg.Board.Preemptions()
	ledger := ledgerOf(rows, since, q.Pool)
	if q.Pool != "" && len(ledger.Matrix) == 0 {
		if _, err := docs.Pool.Read(ctx, s, docs.PoolID(q)); err != nil {
			return docs.Answer[apidoc.PreemptionLedger]{}, err
		}
	}
	return answer(s, ledger, s.cfg.Now(), nil), nil
}

// ledgerOf returns the document of the rows from or for a pool, or of all if pool is "".
func ledgerOf(rows []board.PreemptionRow, since int64, pool string) apidoc.PreemptionLedger {
	doc := apidoc.PreemptionLedger{Since: since, Pool: pool, Matrix: []apidoc.PoolPreemption{}}
	modes := []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}
	latency := make([]board.Latency, len(modes))
	for _, mode := range modes {
		doc.Modes = append(doc.Modes, apidoc.PreemptionMode{Mode: string(mode)})
	}
	for i := range rows { // sorted by pools
		r := &rows[i]
		if pool != "" && pool != r.Pool && pool != r.For {
			continue
		}
		doc.Add(r.PreemptionSums)
		mode := slices.Index(modes, r.Mode)
		doc.Modes[mode].Add(r.PreemptionSums)
		latency[mode].Add(&r.Latency)
		last := len(doc.Matrix) - 1
		if last < 0 || doc.Matrix[last].Pool != r.Pool || doc.Matrix[last].For != r.For {
			doc.Matrix = append(doc.Matrix, apidoc.PoolPreemption{Pool: r.Pool, For: r.For, Modes: make(map[string]int)})
			last++
		}
		doc.Matrix[last].Add(r.PreemptionSums)
		doc.Matrix[last].Modes[string(r.Mode)] += r.Granted
	}
	for i := range modes {
		doc.Modes[i].P50Millis, doc.Modes[i].P95Millis = latency[i].Quantile(.5), latency[i].Quantile(.95)
	}
	slices.SortStableFunc(doc.Matrix, func(a, b apidoc.PoolPreemption) int { return cmp.Compare(b.Granted, a.Granted) })
	return doc
}
