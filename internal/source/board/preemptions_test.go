package board

import (
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/preempt"
)

// TestLedgerOfRows compares the sums over modes and over the matrix, for all pools and for one.
func TestLedgerOfRows(t *testing.T) {
	row := func(pool, taker string, mode preempt.Mode, n int) board.PreemptionRow {
		r := board.PreemptionRow{PreemptionKey: board.PreemptionKey{Pool: pool, For: taker, Mode: mode}, PreemptionSums: apidoc.PreemptionSums{
			Asked: n, Granted: n, Declined: 2 * n, KeptMillis: int64(3 * n), LostMillis: int64(4 * n), Checkpoints: 5 * n, CheckpointBytes: int64(6 * n), CheckpointMillis: int64(7 * n), CopiedBytes: int64(8 * n)}}
		r.Latency.Counts[5] = uint32(n) // 100 to 250 ms
		return r
	}
	rows := []board.PreemptionRow{row("a", "", preempt.Kill, 1), row("a", "b", preempt.Split, 10), row("a", "b", preempt.Suspend, 100), row("b", "c", preempt.Kill, 1000)}
	for pool, want := range map[string]struct{ pairs, asked int }{"": {3, 1111}, "a": {2, 111}, "b": {2, 1110}, "c": {1, 1000}, "d": {}} {
		l := ledgerOf(rows, 7, pool)
		var modes, matrix apidoc.PreemptionSums
		slots := 0
		for _, m := range l.Modes {
			modes.Add(m.PreemptionSums)
		}
		for i, p := range l.Matrix {
			matrix.Add(p.PreemptionSums)
			for _, n := range p.Modes {
				slots += n
			}
			if i > 0 && l.Matrix[i-1].Granted < p.Granted {
				t.Errorf("pool %q: row %d has more slots than the one before", pool, i)
			}
		}
		if len(l.Matrix) != want.pairs || l.Asked != want.asked || modes != l.PreemptionSums || matrix != l.PreemptionSums || slots != l.Granted || l.CopiedBytes != int64(8*want.asked) || l.Since != 7 || len(l.Modes) != 4 {
			t.Errorf("pool %q: %+v", pool, l)
		}
	}
	if l := ledgerOf(rows, 7, ""); l.Modes[3].P50Millis != 175 || l.Modes[3].P95Millis != 243 || l.Modes[1].P50Millis != 0 {
		t.Errorf("times %+v", l.Modes)
	}
}
