package fluid

import (
	"math"
	"math/big"
	"strconv"
)

const (
	// precision leaves a hundred bits after the point of the largest quotient of a time and
	// a weight that Job allows.
	precision = 192
	// tickBits make a tick of 2^-80 s, about 1e-24 s. Rounding errors are far smaller, and
	// intended differences between jobs far larger.
	tickBits = 80
)

var (
	zero    = number{blank()}
	one     = number{blank().SetInt64(1)}
	oneTick = number{blank().SetMantExp(big.NewFloat(1), -tickBits)}
)

// number is an immutable value. Ties decide results: two jobs that complete at the same
// moment in exact arithmetic must not be ordered by rounding errors of float64.
type number struct{ v *big.Float }

// decimal returns the shortest decimal that denotes x, which is finite.
func decimal(x float64) number {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return number{blank().SetFloat64(x)} // the common case, and much faster
	}
	v, _, err := big.ParseFloat(strconv.FormatFloat(x, 'g', -1, 64), 10, precision, big.ToNearestEven)
	if err != nil {
		panic("fluid: what strconv writes, big does not read: " + err.Error())
	}
	return number{v}
}

func blank() *big.Float { return new(big.Float).SetPrec(precision) }

func (a number) plus(b number) number  { return number{blank().Add(a.v, b.v)} }
func (a number) minus(b number) number { return number{blank().Sub(a.v, b.v)} }
func (a number) times(b number) number { return number{blank().Mul(a.v, b.v)} }

// over divides by b, which is greater than 0.
func (a number) over(b number) number { return number{blank().Quo(a.v, b.v)} }

func (a number) less(b number) bool { return a.v.Cmp(b.v) < 0 }

// clearlyLess reports whether a is less than b by more than rounding.
func (a number) clearlyLess(b number) bool { return oneTick.less(b.minus(a)) }

// until returns b - a, or 0 if rounding has put b before a.
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
