package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
)

// A setting has one name in all sources. For the name "map-slots":
//
//	--map-slots 4            on the command line, first in rank
//	HAMMR_MAP_SLOTS=4        in the environment
//	map-slots: 4             in the file of --config, last

// Setting is one setting of a daemon. Its value comes from a flag with its name, from the
// environment variable that Env returns, or from a key with its name in a file.
type Setting struct {
	Name    string // lower-case words joined by "-"
	Usage   string // a phrase; the part in back quotes names the value
	Default string // as a user types it
	IsBool  bool   // a flag without a value means true

	set      func(text string) error // parses a value and stores it; the error says what was expected
	valid    func() error            // checks the present value like set
	text     func() string           // the present value, as a user types it
	parts    func() []string         // the items of a list; of another value, its text
	isZero   func() bool             // no source has a value
	reset    func()                  // stores the default
	value    func() any              // the present value
	store    func(value any)         // stores what value of the same setting has returned
	check    func(part string) error // nil for none
	required bool
	live     bool // a running daemon uses a new value when it reloads its settings
}

// Env returns the name of the environment variable of the setting.
func (s Setting) Env() string {
	return "HAMMR_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Required returns the setting without a default: Load fails if no source has a value.
func (s Setting) Required() Setting {
	s.required = true
	return s
}

// IsRequired reports whether Load fails without a value.
func (s Setting) IsRequired() bool { return s.required }

// Reloadable returns the setting as one that a running daemon changes when it reloads its
// settings. A change of any other setting needs a restart.
func (s Setting) Reloadable() Setting {
	s.live = true
	return s
}

// Check returns the setting with a check of its value beyond its form, which Validate makes. check is
// called with a value other than "", 0 and the empty list, as a user types it; of a list, with each item.
// Its error says what was expected.
func (s Setting) Check(check func(part string) error) Setting {
	s.check = check
	return s
}

// OneOf returns a check of values that are one of several words.
func OneOf(words ...string) func(part string) error {
	return func(part string) error {
		if !slices.Contains(words, part) {
			return fmt.Errorf("expected one of %s", strings.Join(words, ", "))
		}
		return nil
	}
}

// IsReloadable reports whether a running daemon changes the setting when it reloads.
func (s Setting) IsReloadable() bool { return s.live }

// take stores a value from a source. The error names the source.
func (s Setting) take(text, source string) error {
	if err := s.set(text); err != nil {
		return fmt.Errorf("%s: %q: %w", source, text, err)
	}
	return nil
}

// examine checks the present value, as one of the command line.
func (s Setting) examine() error {
	if err := s.valid(); err != nil {
		return fmt.Errorf("--%s: %q: %w", s.Name, s.text(), err)
	}
	if s.check == nil {
		return nil
	}
	var errs []error
	for _, part := range s.parts() {
		if err := s.check(part); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %q: %w", s.Name, part, err))
		}
	}
	return errors.Join(errs...)
}

// form is how users type values.
type form[T any] struct {
	format   func(T) string
	parse    func(text string) (T, error)
	valid    func(T) bool // of what parse returns; nil if every value is
	expected string       // describes the texts of valid values
}

// newSetting returns the setting that is stored in *to, with its default.
func newSetting[T any](name string, to *T, value T, usage string, f form[T]) Setting {
	valid := func(value T, err error) error {
		if err != nil || f.valid != nil && !f.valid(value) {
			return errors.New("expected " + f.expected)
		}
		return nil
	}
	return Setting{
		Name: name, Usage: usage, Default: f.format(value),
		set: func(text string) error {
			value, err := f.parse(text)
			if err = valid(value, err); err == nil {
				*to = value
			}
			return err
		},
		valid:  func() error { return valid(*to, nil) },
		text:   func() string { return f.format(*to) },
		parts:  func() []string { return []string{f.format(*to)} },
		isZero: func() bool { return reflect.ValueOf(to).Elem().IsZero() },
		reset:  func() { *to = value },
		value:  func() any { return *to },
		store:  func(value any) { *to = value.(T) },
	}
}

// asTyped formats a text.
func asTyped(text string) string { return text }

// String returns a setting for any text. In this and the following functions, value is the
// default, as in package flag.
func String(name string, to *string, value, usage string) Setting {
	return newSetting(name, to, value, usage, form[string]{format: asTyped, parse: func(text string) (string, error) { return text, nil }})
}

// Choice returns a setting for one of several words, in upper or lower case.
func Choice(name string, to *string, value, usage string, words ...string) Setting {
	return newSetting(name, to, value, usage, form[string]{
		format: asTyped,
		parse: func(text string) (string, error) {
			for _, word := range words {
				if strings.EqualFold(word, text) {
					return word, nil
				}
			}
			return text, nil
		},
		valid:    func(text string) bool { return slices.Contains(words, text) },
		expected: "one of " + strings.Join(words, ", "),
	})
}

// atLeast returns a function that reports whether a value is not below least.
func atLeast[T cmp.Ordered](least T) func(T) bool {
	return func(value T) bool { return value >= least }
}

// Int returns a setting for a whole number that is not below least.
func Int(name string, to *int, value, least int, usage string) Setting {
	return newSetting(name, to, value, usage, form[int]{strconv.Itoa, strconv.Atoi, atLeast(least), fmt.Sprintf("a whole number of at least %d", least)})
}

// Size returns a setting for a number of bytes that is not below least, with k, m, g or t for powers of 1024.
func Size(name string, to *int64, value, least int64, usage string) Setting {
	expected := "a number of bytes such as 512m or 10g"
	if least > 0 {
		expected += ", at least " + formatSize(least)
	}
	return newSetting(name, to, value, usage, form[int64]{formatSize, conf.ParseSize, atLeast(least), expected})
}

// formatSize formats a number of bytes as a user types it.
func formatSize(n int64) string {
	unit := ""
	for _, next := range []string{"k", "m", "g", "t"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, next
	}
	return strconv.FormatInt(n, 10) + unit
}

// Duration returns a setting for a positive time: a number of milliseconds, or a number with
// ms, s, m or h.
func Duration(name string, to *time.Duration, value time.Duration, usage string) Setting {
	return newSetting(name, to, value, usage, form[time.Duration]{formatDuration, conf.ParseDuration, atLeast[time.Duration](1), "a time such as 500ms or 10s"})
}

// formatDuration formats a time; 0 means that no source has one.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Bool returns a setting that is true or false; its default is false.
func Bool(name string, to *bool, usage string) Setting {
	s := newSetting(name, to, false, usage, form[bool]{format: strconv.FormatBool, parse: conf.ParseBool, expected: "true or false"})
	s.IsBool = true
	return s
}

// Strings returns a setting for items joined by commas, or for a list in a file. A comma
// inside an item has a backslash before it, as in Hadoop (see EscapeItem). A list replaces
// the list of a weaker source.
func Strings(name string, to *[]string, value []string, usage string) Setting {
	s := newSetting(name, to, value, usage, form[[]string]{
		format: func(items []string) string { return strings.Join(items, ",") },
		parse:  func(text string) ([]string, error) { return splitItems(text), nil },
	})
	s.parts = func() []string { return *to }
	return s
}

// EscapeItem returns an item in the form that Strings reads.
func EscapeItem(word string) string { return strings.ReplaceAll(word, ",", `\,`) }

// splitItems splits a list at commas that have no backslash before them. Empty items
// are left out.
func splitItems(text string) (words []string) {
	begun := "" // the part of an item that ends with an escaped comma
	for part := range strings.SplitSeq(text, ",") {
		if head, joined := strings.CutSuffix(part, `\`); joined {
			begun += head + ","
			continue
		}
		if word := strings.TrimSpace(begun + part); word != "" {
			words = append(words, word)
		}
		begun = ""
	}
	return words
}
