package conf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what the value of a key has to be.
type Kind int

// The kinds of values. Sizes and durations may end in a unit; a bare size is
// in bytes, a bare duration in milliseconds.
const (
	String   Kind = iota // any text, kept as it is
	Int                  // a whole number
	Float                // a number
	Bool                 // true or false
	Size                 // bytes; suffixes k, m, g, t are powers of 1024
	Duration             // suffixes us, ms, s, m, h
	List                 // texts with commas between; white space around them is dropped
	Class                // the name of a class or codec; white space around it is dropped
)

func (k Kind) String() string {
	return [...]string{"text", "a whole number", "a number", "true or false",
		"a size in bytes (suffixes k, m, g, t)", "a duration in milliseconds (suffixes us, ms, s, m, h)",
		"a list with commas", "a class name"}[k]
}

// Key is one declared property.
type Key struct {
	Name    string
	Kind    Kind
	Default string
	Doc     string   // one line
	Aliases []string // deprecated names that still work

	lo, hi  float64 // bounds of a number
	above   bool    // lo itself is out
	choices []string
	notes   map[string]string // warnings about particular values
}

// key declares a property. Sizes and durations may not be negative unless in
// says otherwise; other numbers are not bounded.
func key(name string, kind Kind, def, doc string) Key {
	k := Key{Name: name, Kind: kind, Default: def, Doc: doc, lo: math.Inf(-1), hi: math.Inf(1)}
	if kind == Size || kind == Duration {
		k.lo = 0
	}
	return k
}

// was names deprecated aliases.
func (k Key) was(aliases ...string) Key { k.Aliases = aliases; return k }

// in bounds a number, both ends included.
func (k Key) in(lo, hi float64) Key { k.lo, k.hi = lo, hi; return k }

// from bounds a number from below, lo included.
func (k Key) from(lo float64) Key { return k.in(lo, math.Inf(1)) }

// over bounds a number, lo excluded and hi included.
func (k Key) over(lo, hi float64) Key { k.above = true; return k.in(lo, hi) }

// of lists the only values that are accepted, of a List the only elements, in any
// case of letters.
func (k Key) of(choices ...string) Key { k.choices = choices; return k }

// note has a warning for a value that is accepted.
func (k Key) note(value, warning string) Key {
	k.notes = map[string]string{value: warning}
	return k
}

// check tells whether value is of the key's kind.
func (k *Key) check(value string) error {
	if _, err := k.parse(value); err != nil {
		return fmt.Errorf("expected %v, and %s is not; the default is %s", k.Kind, quote(value), quote(k.Default))
	}
	return nil
}

// checkRange tells whether a value that passed check lies within the bounds.
func (k *Key) checkRange(value string) error {
	if len(k.choices) > 0 {
		return k.checkChoice(value)
	}
	n, err := k.parse(value)
	if err == nil && (n < k.lo || n > k.hi || k.above && n == k.lo) {
		return fmt.Errorf("expected %s; the default is %s", k.bounds(), quote(k.Default))
	}
	return nil
}

func (k *Key) checkChoice(value string) error {
	values, expected := []string{strings.TrimSpace(value)}, "one of"
	if k.Kind == List {
		values, expected = splitList(value), "some of"
	}
	for _, v := range values {
		if !slices.ContainsFunc(k.choices, func(choice string) bool { return strings.EqualFold(choice, v) }) {
			return fmt.Errorf("expected %s %s; the default is %s", expected, strings.Join(k.choices, ", "), quote(k.Default))
		}
	}
	return nil
}

func (k *Key) bounds() string {
	lo, hi := plain(k.lo), plain(k.hi)
	switch {
	case k.above:
		return fmt.Sprintf("more than %s and at most %s", lo, hi)
	case math.IsInf(k.hi, 1):
		return "at least " + lo
	}
	return lo + " to " + hi
}

// plain writes a bound without an exponent.
func plain(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }

// parse reads a value as a number for comparison with bounds: bytes,
// milliseconds, or 0 for what is no number.
func (k *Key) parse(value string) (float64, error) {
	value = strings.TrimSpace(value)
	switch k.Kind {
	case Int:
		n, err := strconv.ParseInt(value, 10, 64)
		return float64(n), err
	case Float:
		return parseFloat(value)
	case Bool:
		_, err := ParseBool(value)
		return 0, err
	case Size:
		n, err := ParseSize(value)
		return float64(n), err
	case Duration:
		d, err := ParseDuration(value)
		return float64(d) / float64(time.Millisecond), err
	}
	return 0, nil
}

// canonical is one spelling for all values that mean the same.
func (k *Key) canonical(value string) string {
	if k.Kind == String {
		return value
	}
	if k.Kind == List {
		return strings.Join(splitList(value), ",")
	}
	value = strings.TrimSpace(value)
	switch n, err := k.parse(value); {
	case err != nil || k.Kind == Class:
		return value
	case k.Kind == Bool:
		return strings.ToLower(value)
	default:
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
}

func quote(value string) string {
	if value == "" {
		return "empty"
	}
	if strconv.Quote(value) == `"`+value+`"` && !strings.ContainsAny(value, " ") {
		return value
	}
	return strconv.Quote(value)
}
