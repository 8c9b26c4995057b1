package sim

import (
	"math/big"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sim/workload"
	"pgregory.net/rapid"
)

// TestScale compares with big integers.
func TestScale(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.Int64Range(0, workload.MaxBytes)
		x, of, all := numbers.Draw(rt, "x"), numbers.Draw(rt, "of"), numbers.Draw(rt, "all")
		want := big.NewInt(x)
		if all > 0 {
			want.Mul(want, big.NewInt(of)).Div(want, big.NewInt(all))
		}
		if limit := big.NewInt(max(x, forever)); want.Cmp(limit) > 0 {
			want = big.NewInt(forever)
		}
		if got := scale(x, of, all); want.Cmp(big.NewInt(got)) != 0 {
			rt.Fatalf("%d, want %v", got, want)
		}
	})
}

// TestRangesAddUp splits a block repeatedly at the position of its elapsed time.
func TestRangesAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := workload.Task{
			Millis: rapid.Int64Range(0, workload.MaxMillis).Draw(rt, "millis"), Bytes: rapid.Int64Range(0, workload.MaxBytes).Draw(rt, "bytes"),
		}
		rest := dag.Range{End: dag.Position{Offset: lengthOf(in)}}
		sum := int64(0)
		for range rapid.IntRange(0, 5).Draw(rt, "cuts") {
			own := millisOfRange(in, rest)
			done := rapid.Int64Range(0, own).Draw(rt, "done")
			cut := splitPosition(rest, done, max(own, 1))
			part := millisOfRange(in, dag.Range{Start: rest.Start, End: cut})
			if part > done || cut.Less(rest.Start) || rest.End.Less(cut) {
				rt.Fatalf("cut at %v, a part of %d ms is done in %d", cut, part, done)
			}
			sum += part
			rest.Start = cut
		}
		if sum += millisOfRange(in, rest); sum != in.Millis {
			rt.Fatalf("parts take %d ms of %d", sum, in.Millis)
		}
	})
}
