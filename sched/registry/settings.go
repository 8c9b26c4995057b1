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

// settings reads the settings of a policy and collects every error: unknown settings and bad
// values alike. For a missing or bad setting a reader returns the zero value, which the
// policy replaces by its default. Afterwards err returns the errors.
type settings struct {
	policy string            // name of the policy, for messages
	conf   map[string]string // text by property name; "" means not set
	known  []string          // names that have been read: all others are unknown
	errs   []error           // errors of bad values
}

// text returns a setting as it is, and notes that the policy knows it.
func (s *settings) text(name string) string {
	s.known = append(s.known, name)
	return s.conf[name]
}

// takeSettings returns the named settings of conf for reading, and a copy of the rest. conf
// does not change. It is for settings that all policies share, so that no policy has to list
// their names.
func takeSettings(policy string, conf map[string]string, names ...string) (s *settings, rest map[string]string) {
	s, rest = &settings{policy: policy, conf: make(map[string]string)}, maps.Clone(conf)
	for _, name := range names {
		if text := conf[name]; text != "" {
			s.conf[name] = text
		}
		delete(rest, name)
	}
	return s, rest
}

// parsed reads a setting with parse; the result is the zero value if it is not set. In error
// messages it replaces the error of parse by the expected value.
func parsed[T any](s *settings, name, expected string, parse func(string) (T, error)) (value T) {
	text := s.text(name)
	if text == "" {
		return value
	}
	value, err := parse(text)
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("policy %s: setting %s: %q: expected %s", s.policy, name, text, expected))
	}
	return value
}

// bool reads true or false; the result is false if the setting is not set.
func (s *settings) bool(name string) bool {
	return parsed(s, name, "true or false", strconv.ParseBool)
}

// off reports whether a setting that defaults to true is false.
func (s *settings) off(name string) bool { return s.text(name) != "" && !s.bool(name) }

// aboveZero is the expected value in errors about settings that count something.
const aboveZero = "a whole number above 0"

// integer reads a whole number from least to most. The result is 0 if the setting is not
// set, even if least is above 0.
func (s *settings) integer(name, expected string, least, most int64) int64 {
	return parsed(s, name, expected, func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > most {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}

// millisOrNever reads a whole number of ms above 0. The result is 0 if the setting is not
// set, and -1 for never.
func (s *settings) millisOrNever(name string) int64 {
	if s.conf[name] == "never" {
		s.known = append(s.known, name)
		return -1
	}
	return s.integer(name, aboveZero+", or never", 1, 1e15)
}

// float reads a number from least to most; the result is 0 if the setting is not set.
func (s *settings) float(name, expected string, least, most float64) float64 {
	return parsed(s, name, expected, func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= least && x <= most) { // the negation also refuses NaN
			return 0, errors.New("out of range")
		}
		return x, nil
	})
}

// positive reads a number above 0.
func (s *settings) positive(name string) float64 {
	return s.float(name, "a number above 0", math.SmallestNonzeroFloat64, 1e15)
}

// fraction reads a number above 0 that is at most 1.
func (s *settings) fraction(name string) float64 {
	return s.float(name, "a number above 0, at most 1", math.SmallestNonzeroFloat64, 1)
}

// allocations reads the pools of an allocation file; nil if there is none. Its errors
// name the file and the line.
func (s *settings) allocations() *pool.Allocations {
	file, content := s.text(AllocationFile), s.text(Allocations)
	if content == "" {
		return nil
	}
	a, err := pool.Parse(cmp.Or(file, "allocations"), []byte(content))
	s.errs = append(s.errs, err)
	return a
}

// err returns all errors, with one for each setting that has not been read. So each reader
// must be called in all cases, or its setting would be unknown in some.
func (s *settings) err() error {
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
