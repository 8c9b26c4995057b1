// Package arguments parses the arguments that mr.Driver.Args has for the bundled programs.
//
// The options of Hadoop's programs begin with one hyphen and precede the other arguments:
//
//	hammr run mrbench -maps 4 -verbose
//	hammr run sort -r 3 in out
//
// Package mr has already removed the generic options and those that begin with two hyphens.
// Every error wraps mr.ErrUsage, so the program ends with its usage and exit code 2.
package arguments

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hammr/hammr/mr"
)

// Options are the options of a program by their names, hyphen included.
type Options map[string]Option

// Option takes the arguments that follow its name.
type Option struct {
	values  int    // how many arguments it takes
	missing string // text of the error if there are fewer values
	set     func(values []string) error
}

// Flag returns an option without a value. It sets *to.
func Flag(to *bool) Option {
	return Option{set: func([]string) error { *to = true; return nil }}
}

// Do returns an option without a value that calls set.
func Do(set func() error) Option {
	return Option{set: func([]string) error { return set() }}
}

// Refused returns an option of Hadoop's program that has no meaning here.
func Refused(reason string) Option {
	return Do(func() error { return errors.New(reason) })
}

// Value returns an option with one value, which set checks and stores.
func Value(set func(value string) error) Option {
	return Values(1, "a value is missing", func(values []string) error { return set(values[0]) })
}

// Values returns an option with n values. missing is the error for fewer values.
func Values(n int, missing string, set func(values []string) error) Option {
	return Option{n, missing, set}
}

// Number returns an option whose value is a whole number from least to the greatest int of
// Java.
func Number[N int | int64](to *N, least int64) Option {
	return Value(func(value string) error {
		n, err := WholeNumber(value, least)
		*to = N(n)
		return err
	})
}

// Parse sets the options at the front of args and returns the other arguments. It ends at
// the first argument without a hyphen.
func (known Options) Parse(args []string) (rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, values := args[0], args[1:]
		o := known[name]
		switch {
		case o.set == nil:
			err = errors.New("not known")
		case len(values) < o.values:
			err = errors.New(o.missing)
		default:
			err = o.set(values[:o.values])
		}
		if err != nil {
			return nil, fmt.Errorf("%w: option %s: %w", mr.ErrUsage, name, err)
		}
		args = values[o.values:]
	}
	return args, nil
}

// ParseAll sets the options of a program that has no other arguments.
func (known Options) ParseAll(args []string) error {
	rest, err := known.Parse(args)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: option %s: not known", mr.ErrUsage, rest[0])
	}
	return err
}

// WholeNumber parses a number between least and Java's greatest int, the type in which
// Hadoop's programs keep such values.
func WholeNumber(text string, least int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < least {
		return 0, fmt.Errorf("%q is not a whole number of at least %d, or too large", text, least)
	}
	return n, nil
}

// Count parses an argument that is a number of things, at least one. what names the argument
// in the error.
func Count(what, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %s %q: expected a whole number of at least 1", mr.ErrUsage, what, text)
	}
	return n, nil
}
