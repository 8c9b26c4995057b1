// Package decimal is numbers with six digits after the point. Sums of them are
// exact, and so do not depend on the order in which they are added, as sums of
// floats do.
package decimal

import (
	"errors"
	"fmt"
	"math"
)

// Number is a number in millionths.
type Number int64

// One is the number 1.
const One Number = 1_000_000

// digits is the number of digits after the point.
const digits = 6

var errSyntax = errors.New("expected a decimal number with at most six digits behind the point")

// Parse reads a number like -12.5. It refuses what it cannot hold exactly.
func Parse(text []byte) (Number, error) {
	rest, sign := text, Number(1)
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		if rest[0] == '-' {
			sign = -1
		}
		rest = rest[1:]
	}
	var n Number // below 0, where there is one number more
	seen, behind, point := 0, 0, false
	for _, c := range rest {
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9' || behind == digits:
			return 0, fmt.Errorf("%q: %w", text, errSyntax)
		}
		if point {
			behind++
		}
		seen++
		var fits bool
		if n, fits = shift(n, c); !fits {
			return 0, outOfRange(text)
		}
	}
	if seen == 0 {
		return 0, fmt.Errorf("%q: %w", text, errSyntax)
	}
	for ; behind < digits; behind++ {
		var fits bool
		if n, fits = shift(n, '0'); !fits {
			return 0, outOfRange(text)
		}
	}
	if sign > 0 && n == math.MinInt64 {
		return 0, outOfRange(text)
	}
	return n * -sign, nil
}

// shift appends a digit to a number below 0.
func shift(n Number, digit byte) (Number, bool) {
	d := Number(digit - '0')
	if n < (math.MinInt64+d)/10 {
		return 0, false
	}
	return n*10 - d, true
}

func outOfRange(text []byte) error {
	return fmt.Errorf("%q: beyond %v", text, Number(math.MaxInt64))
}

// AppendText appends the number without zeros at its end.
func (n Number) AppendText(dst []byte) ([]byte, error) {
	abs := uint64(n)
	if n < 0 {
		dst = append(dst, '-')
		abs = -abs
	}
	dst = fmt.Appendf(dst, "%d.%06d", abs/uint64(One), abs%uint64(One))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if last := len(dst) - 1; dst[last] == '.' {
		dst = dst[:last]
	}
	return dst, nil
}

func (n Number) String() string {
	text, _ := n.AppendText(nil) // never fails
	return string(text)
}

// Floor is the greatest multiple of step, which is above 0, that is at most n,
// and false where there is none that can be held.
func (n Number) Floor(step Number) (Number, bool) {
	over := n % step
	if over < 0 {
		over += step
	}
	return n - over, n >= math.MinInt64+over
}
