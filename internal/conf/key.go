package conf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a property's value.
type Kind int

// The kinds of values. A size without a unit is in bytes, a duration without a
// unit in milliseconds.
const (
	String   Kind = iota // any text, kept as it is
	Int                  // a whole number
	Float                // a number
	Bool                 // true or false
	Size                 // bytes; suffixes k, m, g, t are powers of 1024
	Duration             // suffixes us, ms, s, m, h
	List                 // texts separated by commas; white space around them is dropped
	Class                // the name of a class or codec; white space around it is dropped
)

// String describes a value of the kind, for errors and `hammr conf`.
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
	Aliases []string // older names; setting one sets the property, with a warning

	// Unsupported says, for a property of Hadoop that Hammr does not implement,
	// why it is refused and what to do instead; "" for all others. Only the
	// default and the values in honoured are accepted.
	Unsupported string

	// Ignored says why an accepted property has no effect; "" for all others. Load warns
	// with it if the value is not the default.
	Ignored string

	// Checks of a value, by checkRange.
	lo, hi    float64  // bounds of a number; infinite for none
	exclusive bool     // lo itself is not accepted
	unset     string   // a value that Hadoop takes for none; "" for no such value
	maxBytes  int      // of a text; 0: any
	choices   []string // the accepted values; nil for any
	honoured  []string // values of an unsupported property that ask for what Hammr does anyway
}

// key declares a property. Sizes and durations may not be negative unless between or atLeast
// says otherwise; other numbers have no bounds. The methods below add the rest. Each returns
// the changed key, so that a property is one line of the table.
func key(name string, kind Kind, def, doc string) Key {
	k := Key{Name: name, Kind: kind, Default: def, Doc: doc, lo: math.Inf(-1), hi: math.Inf(1)}
	if kind == Size || kind == Duration {
		k.lo = 0
	}
	return k
}

// renames names the aliases of a property. This is the only place to touch
// when a property gets a new name: Set resolves the old one and warns.
func (k Key) renames(aliases ...string) Key { k.Aliases = aliases; return k }

// between bounds a number, both ends included.
func (k Key) between(lo, hi float64) Key { k.lo, k.hi = lo, hi; return k }

// atLeast bounds a number from below, lo included.
func (k Key) atLeast(lo float64) Key { return k.between(lo, math.Inf(1)) }

// moreThan bounds a number, lo excluded and hi included.
func (k Key) moreThan(lo, hi float64) Key { k.exclusive = true; return k.between(lo, hi) }

// oneOf lists the only accepted values, in any case of letters. For a List it lists the
// accepted elements.
func (k Key) oneOf(choices ...string) Key { k.choices = choices; return k }

// unsetAt names a value that means the same as none, in Hadoop and so here.
func (k Key) unsetAt(value string) Key { k.unset = value; return k }

// oneByte bounds a text to one byte; an empty one means the default.
func (k Key) oneByte() Key { k.maxBytes = 1; return k }

// ignored marks a property that has no effect. The warning follows name=value.
func (k Key) ignored(warning string) Key { k.Ignored = warning; return k }

// unsupported marks a property that is rejected, except with its default or with one of the
// values honoured, which ask for what Hammr does anyway.
func (k Key) unsupported(why string, honoured ...string) Key {
	k.Unsupported, k.honoured = why, honoured
	return k
}

// check reports a value that is not of the key's kind. Bounds are left to checkRange: getters
// need only the kind.
func (k *Key) check(value string) error {
	if _, err := k.parse(value); err != nil {
		return fmt.Errorf("expected %v, and %s is not; the default is %s", k.Kind, quote(value), quote(k.Default))
	}
	return nil
}

// checkRange reports a value that passed check and is out of bounds, is none of the choices,
// or asks for what Hammr does not implement. The error names the default, which is always
// right.
func (k *Key) checkRange(value string) error {
	if k.Unsupported != "" && !k.isHonoured(value) {
		return fmt.Errorf("not supported: %s; leave it at its default, %s", k.Unsupported, quote(k.Default))
	}
	if len(k.choices) > 0 {
		return k.checkChoice(value)
	}
	if k.maxBytes > 0 && len(value) > k.maxBytes {
		return fmt.Errorf("expected one byte; the default is %s", quote(k.Default))
	}
	n, err := k.parse(value)
	if err == nil && (n < k.lo || n > k.hi || k.exclusive && n == k.lo) {
		return fmt.Errorf("expected %s; the default is %s", k.bounds(), quote(k.Default))
	}
	return nil
}

// isHonoured reports whether a value of an unsupported property asks for what Hammr does
// anyway. Spellings of the same value are equal.
func (k *Key) isHonoured(value string) bool {
	return slices.ContainsFunc(append(k.honoured[:len(k.honoured):len(k.honoured)], k.Default), func(v string) bool {
		return strings.EqualFold(k.canonical(v), k.canonical(value))
	})
}

// checkChoice reports a value that is not among the choices, or a list with such an element.
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

// bounds describes what checkRange accepts.
func (k *Key) bounds() string {
	lo, hi := plain(k.lo), plain(k.hi)
	switch {
	case k.exclusive:
		return fmt.Sprintf("more than %s and at most %s", lo, hi)
	case math.IsInf(k.hi, 1):
		return "at least " + lo
	}
	return lo + " to " + hi
}

// plain writes a bound without an exponent.
func plain(bound float64) string { return strconv.FormatFloat(bound, 'f', -1, 64) }

// parse reads a value as a number for comparison with bounds: bytes, milliseconds, or 0 if
// the kind is not a number.
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

// canonical returns one spelling for all values with the same meaning, such as 128m and
// 134217728. Changed compares this spelling, so that a site's file that repeats defaults
// changes nothing.
func (k *Key) canonical(value string) string {
	// White space may be the value, for example of a separator.
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
	// Only the case of letters differs.
	case k.Kind == Bool:
		return strings.ToLower(value)
	default:
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
}

// quote formats a value for an error. A value with blanks or control characters is quoted,
// and an empty value becomes a word; others stay as they are.
func quote(value string) string {
	if value == "" {
		return "empty"
	}
	if strconv.Quote(value) == `"`+value+`"` && !strings.ContainsAny(value, " ") {
		return value
	}
	return strconv.Quote(value)
}
