// Package mean computes the mean of the numbers of each key.
//
//	a	1            a	1.5
//	b	7     ──>    b	7
//	a	2
//
//	hammr run mean in out
//
// A mean of means is wrong, so the combiner does not emit means. It adds up tallies, a sum
// and a count, and only the reducer divides.
package mean

import (
	"iter"
	"math/bits"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// Job reads lines of key, tab and number, and writes key and mean, rounded to six digits.
// The combiner adds up tallies, because a mean of means would be wrong.
var Job = mr.New("mean",
	mr.KeyValueText(),
	mr.MapFunc(func(_ *mr.Task, key, value []byte, out mr.Emitter[[]byte, tally]) error {
		n, err := decimal.Parse(value)
		if err != nil {
			return err
		}
		out.Emit(key, tallyOf(n))
		return nil
	}),
	mr.ReduceFunc(func(_ *mr.Task, key []byte, tallies iter.Seq[tally], out mr.Emitter[[]byte, decimal.Number]) error {
		var all tally
		for t := range tallies {
			all = add(all, t)
		}
		out.Emit(key, meanOf(all))
		return nil
	}),
	mr.TextOutput[[]byte, decimal.Number](),
).Combine(mr.Fold[[]byte](add))

// tally is a sum and the number of its summands. The sum has 128 bits, the high bits in
// First and the low bits in Second. No input is long enough to overflow it.
type tally = mr.Triple[int64, uint64, int64]

func tallyOf(n decimal.Number) tally {
	return tally{First: int64(n) >> 63, Second: uint64(n), Third: 1}
}

func add(a, b tally) tally {
	lo, carry := bits.Add64(a.Second, b.Second, 0)
	return tally{First: a.First + b.First + int64(carry), Second: lo, Third: a.Third + b.Third}
}

// meanOf returns the sum divided by the count, halves rounded away from 0.
func meanOf(t tally) decimal.Number {
	hi, lo, count := uint64(t.First), t.Second, uint64(t.Third)
	negative := t.First < 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	// A mean is no greater than the greatest number, so the quotient fits.
	quotient, rest := bits.Div64(hi, lo, count)
	if rest >= count-rest {
		quotient++
	}
	if negative {
		quotient = -quotient
	}
	return decimal.Number(quotient)
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "mean",
		Summary: "A map/reduce program that computes the mean of the numbers of each key.",
		Jobs:    []mr.Runnable{Job},
	}
}
