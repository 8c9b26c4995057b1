package teragen

import "math/bits"

// uint128 is a number below 2^128; sums and products are taken modulo that.
type uint128 struct{ hi, lo uint64 }

func (x uint128) plus(y uint128) uint128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return uint128{hi, lo}
}

func (x uint128) times(y uint128) uint128 {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return uint128{hi + x.hi*y.lo + x.lo*y.hi, lo}
}

// step maps x to a*x + c. Steps one after the other make a step again.
type step struct{ a, c uint128 }

func (s step) of(x uint128) uint128 { return s.a.times(x).plus(s.c) }

// after is the step that does first and then s.
func (s step) after(first step) step { return step{s.a.times(first.a), s.of(first.c)} }

// generator is the linear congruential generator of the sort benchmark, which
// starts at 0. The bytes of its increment begin with "JimGrayRIP".
var generator = step{
	a: uint128{0x2360ED051FC65DA4, 0x4385DF649FCCF645},
	c: uint128{0x4A696D4772617952, 0x4950202020202001},
}

// randomAt is the generator's number after n steps. It takes 2 log n steps, by
// squaring.
func randomAt(n uint64) uint128 {
	var x uint128
	for power := generator; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = power.of(x)
		}
		power = power.after(power)
	}
	return x
}
