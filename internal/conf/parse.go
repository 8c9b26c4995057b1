package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseSize reads a number of bytes: digits and optionally k, m, g or t, which stand for
// powers of 1024, in either case. It may be negative. A number that does not fit 64 bits is an
// error.
func ParseSize(s string) (int64, error) {
	shift := 0
	number := s
	if s != "" {
		if i := strings.IndexByte("kmgt", s[len(s)-1]|0x20); i >= 0 {
			shift, number = 10*(i+1), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64>>shift || n < math.MinInt64>>shift {
		return 0, fmt.Errorf("malformed size %q; write bytes, or a number with k, m, g or t", s)
	}
	return n << shift, nil
}

// ParseDuration reads a time: digits and optionally us, ms, s, m or h, in either case.
// Without a unit it is in milliseconds, the unit of Hadoop's properties. It may be negative:
// some properties have a negative value for none. There are no fractions and no sums such as
// 1m30s.
func ParseDuration(s string) (time.Duration, error) {
	unit, number := time.Millisecond, s
	for _, u := range []struct {
		suffix string
		unit   time.Duration
	}{{"us", time.Microsecond}, {"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}} {
		if rest, ok := strings.CutSuffix(strings.ToLower(s), u.suffix); ok {
			unit, number = u.unit, rest
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	limit := math.MaxInt64 / int64(unit)
	if err != nil || n > limit || n < -limit {
		return 0, fmt.Errorf("malformed duration %q; write milliseconds, or a number with us, ms, s, m or h", s)
	}
	return time.Duration(n) * unit, nil
}

// ParseBool reads true or false, in any case of letters. Hadoop silently takes any other
// text as the default; here it is an error.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("malformed truth value %q; write true or false", s)
}

// parseFloat rejects NaN and infinities, which pass comparisons with bounds.
func parseFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = fmt.Errorf("number %q is not finite", s)
	}
	return f, err
}

// splitList splits at commas, drops blanks around the parts, and empty parts.
func splitList(s string) []string {
	var parts []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
