package mean

import (
	"math/bits"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/mr"
)

// tally is a sum and how many numbers it is of. The sum has 128 bits, the high
// ones in First and the low ones in Second: no input is long enough to overflow
// it.
type tally = mr.Triple[int64, uint64, int64]

func tallyOf(n decimal.Number) tally {
	return tally{First: int64(n) >> 63, Second: uint64(n), Third: 1}
}

func add(a, b tally) tally {
	lo, carry := bits.Add64(a.Second, b.Second, 0)
	return tally{First: a.First + b.First + int64(carry), Second: lo, Third: a.Third + b.Third}
}

// meanOf is the sum over the count, halves rounded away from 0.
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
