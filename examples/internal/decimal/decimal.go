// Package decimal provides numbers with six digits after the point. Sums of such numbers are
// exact, so they do not depend on the order of addition, as sums of floats do.
package decimal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Number is a number in millionths.
// It holds numbers from -9223372036854.775808 to 9223372036854.775807.
type Number int64

// One is the number 1.
const One Number = 1_000_000

// digits is the number of digits after the point.
const digits = 6

var errSyntax = errors.New("expected a decimal number with at most six digits after the point")

// Parse reads a number like -12.5. It refuses a number that it cannot represent exactly.
func Parse(text []byte) (Number, error) {
	if n, ok := parseShort(text); ok {
		return n, nil
	}
	return parseAny(text)
}

// short is the number of digits up to which no number in millionths overflows.
const short = 12

// parseShort parses most numbers in one pass. ok is false if parseAny must decide.
func parseShort(text []byte) (n Number, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > short || text[0] == '.' {
		return 0, false
	}
	point := len(text) - 1
	for i, b := range text {
		switch {
		case b-'0' <= 9:
			n = 10*n + Number(b-'0')
		case b == '.' && point == len(text)-1:
			point = i
		default:
			return 0, false
		}
	}
	fraction := len(text) - 1 - point
	if fraction > digits {
		return 0, false
	}
	n *= powers[digits-fraction]
	if negative {
		n = -n
	}
	return n, true
}

// powers are the powers of ten that give a number the missing digits.
var powers = [digits + 1]Number{1, 10, 100, 1_000, 10_000, 100_000, One}

// parseAny parses any number.
func parseAny(text []byte) (Number, error) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	unsigned := bytes.TrimLeft(whole, "+-")
	if len(fraction) > digits || len(unsigned)+len(fraction) == 0 || bytes.ContainsAny(fraction, "+-") {
		return 0, fmt.Errorf("%q: %w", text, errSyntax)
	}
	// The text has the digits of the number in millionths. Missing digits are zeros.
	var buffer [32]byte
	all := append(append(buffer[:0], whole...), fraction...)
	all = append(all, "000000"[len(fraction):]...)
	n, err := strconv.ParseInt(string(all), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, outOfRange(text)
	case err != nil:
		return 0, fmt.Errorf("%q: %w", text, errSyntax)
	}
	return Number(n), nil
}

// outOfRange returns the error for a number that does not fit into 64 bits.
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

// String returns the text that AppendText appends.
func (n Number) String() string {
	text, _ := n.AppendText(nil) // never fails
	return string(text)
}

// Floor returns the greatest multiple of step that is at most n. step must be above 0. Floor
// returns false if that multiple does not fit into a Number. For a negative n it returns the
// multiple below: -0.5 with the step 1 gives -1.
func (n Number) Floor(step Number) (Number, bool) {
	over := n % step
	if over < 0 {
		over += step
	}
	return n - over, n >= math.MinInt64+over
}
