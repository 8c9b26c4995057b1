package fluid

import (
	"math"
	"math/big"
	"strconv"
)

const (
	// precision leaves a hundred bits behind the point of the largest quotient
	// of a time and a weight that Job allows.
	precision = 192
	// tickBits make a tick of 2^-80 s, about 1e-24 s. Rounding stays far below
	// that, and whatever jobs differ by on purpose far above.
	tickBits = 80
)

var (
	zero    = number{new(big.Float).SetPrec(precision)}
	oneTick = number{blank().SetMantExp(big.NewFloat(1), -tickBits)}
	halfOne = number{big.NewFloat(0.5).SetPrec(precision)}
)

// number is a value that is never changed in place.
type number struct{ v *big.Float }

// decimal is the shortest decimal that denotes x, which is finite.
func decimal(x float64) number {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return number{blank().SetFloat64(x)} // which is far quicker
	}
	v, _, err := big.ParseFloat(strconv.FormatFloat(x, 'g', -1, 64), 10, precision, big.ToNearestEven)
	if err != nil {
		panic("fluid: what strconv writes, big does not read: " + err.Error())
	}
	return number{v}
}

func count(n int) number { return number{blank().SetInt64(int64(n))} }

func blank() *big.Float { return new(big.Float).SetPrec(precision) }

func (a number) plus(b number) number  { return number{blank().Add(a.v, b.v)} }
func (a number) minus(b number) number { return number{blank().Sub(a.v, b.v)} }
func (a number) times(b number) number { return number{blank().Mul(a.v, b.v)} }

// over divides by b, which is above 0.
func (a number) over(b number) number { return number{blank().Quo(a.v, b.v)} }

func (a number) less(b number) bool { return a.v.Cmp(b.v) < 0 }

// clearlyLess is less by more than rounding explains.
func (a number) clearlyLess(b number) bool { return oneTick.less(b.minus(a)) }

// until is how long it is from a to b: 0 where rounding has put b before a.
func (a number) until(b number) number {
	if !a.less(b) {
		return zero
	}
	return b.minus(a)
}

func (a number) float() float64 {
	f, _ := a.v.Float64()
	return f
}

// tick is the number of whole ticks nearest to a: equal for numbers that are
// equal but for rounding.
func (a number) tick() *big.Int {
	scaled := blank().SetMantExp(a.v, tickBits)
	if a.v.Signbit() {
		scaled.Sub(scaled, halfOne.v)
	} else {
		scaled.Add(scaled, halfOne.v)
	}
	whole, _ := scaled.Int(nil)
	return whole
}
