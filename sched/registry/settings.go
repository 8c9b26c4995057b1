package registry

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/sched/pool"
)

// Settings reads the settings of a policy and collects every error: unknown settings and bad
// values alike. For a missing or bad setting a reader returns the zero value, which the
// policy replaces by its default.
type Settings struct {
	policy string            // name of the policy, for messages
	conf   map[string]string // text by property name; "" means not set
	known  []string          // names that have been read: all others are unknown
	errs   []error           // errors of bad values
}

// Text returns a setting as it is, "" if it is not set.
func (s *Settings) Text(name string) string {
	s.known = append(s.known, name)
	return s.conf[name]
}

// takeSettings returns the named settings of conf for reading, and a copy of the rest. conf
// does not change. It is for settings that all policies share, so that no policy has to list
// their names.
func takeSettings(policy string, conf map[string]string, names ...string) (s *Settings, rest map[string]string) {
	s, rest = &Settings{policy: policy, conf: make(map[string]string)}, maps.Clone(conf)
	for _, name := range names {
		if text := conf[name]; text != "" {
			s.conf[name] = text
		}
		delete(rest, name)
	}
	return s, rest
}

// Parsed reads a setting with parse; the result is the zero value if it is not set. In error
// messages it replaces the error of parse by the expected value.
func Parsed[T any](s *Settings, name, expected string, parse func(string) (T, error)) (value T) {
	text := s.Text(name)
	if text == "" {
		return value
	}
	value, err := parse(text)
	if err != nil {
		s.Refuse(name, expected)
	}
	return value
}

// Refuse notes that the value of a setting is not the expected one.
func (s *Settings) Refuse(name, expected string) {
	s.errs = append(s.errs, fmt.Errorf("policy %s: setting %s: %q: expected %s", s.policy, name, s.conf[name], expected))
}

// Bool reads true or false; the result is false if the setting is not set.
func (s *Settings) Bool(name string) bool {
	return Parsed(s, name, "true or false", strconv.ParseBool)
}

// Off reports whether a setting that defaults to true is false.
func (s *Settings) Off(name string) bool { return s.Text(name) != "" && !s.Bool(name) }

// aboveZero is the expected value in errors about settings that count something.
const aboveZero = "a whole number above 0"

// Integer reads a whole number from least to most. The result is 0 if the setting is not
// set, even if least is above 0. Expected says in words what a value may be.
func (s *Settings) Integer(name, expected string, least, most int64) int64 {
	return Parsed(s, name, expected, func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > most {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}

// MillisOrNever reads a whole number of ms above 0. The result is 0 if the setting is not
// set, and -1 for never.
func (s *Settings) MillisOrNever(name string) int64 {
	if s.conf[name] == "never" {
		s.known = append(s.known, name)
		return -1
	}
	return s.Integer(name, aboveZero+", or never", 1, 1e15)
}

// Float reads a number from least to most; the result is 0 if the setting is not set.
func (s *Settings) Float(name, expected string, least, most float64) float64 {
	return Parsed(s, name, expected, func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= least && x <= most) { // the negation also refuses NaN
			return 0, errors.New("out of range")
		}
		return x, nil
	})
}

// Positive reads a number above 0.
func (s *Settings) Positive(name string) float64 {
	return s.Float(name, "a number above 0", math.SmallestNonzeroFloat64, 1e15)
}

// Fraction reads a number above 0 that is at most 1.
func (s *Settings) Fraction(name string) float64 {
	return s.Float(name, "a number above 0, at most 1", math.SmallestNonzeroFloat64, 1)
}

// Allocations reads the pools of an allocation file; nil if there is none. Its errors
// name the file and the line.
func (s *Settings) Allocations() *pool.Allocations {
	file, content := s.Text(AllocationFile), s.Text(Allocations)
	if content == "" {
		return nil
	}
	a, err := pool.Parse(cmp.Or(file, "allocations"), []byte(content))
	s.errs = append(s.errs, err)
	return a
}

// err returns all errors, with one for each setting that has not been read. So each reader
// must be called in all cases, or its setting would be unknown in some.
func (s *Settings) err() error {
	var names []string
	for name := range s.conf {
		if !slices.Contains(s.known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if len(s.known) == 0 {
			s.errs = append(s.errs, fmt.Errorf("policy %s: setting %s: the policy has no settings", s.policy, name))
		} else {
			s.errs = append(s.errs, fmt.Errorf("policy %s: setting %s is unknown; choose one of %s", s.policy, name, strings.Join(s.known, ", ")))
		}
	}
	return errors.Join(s.errs...)
}
