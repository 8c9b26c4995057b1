package daemon

import (
	"cmp"
	"errors"
	"fmt"
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
	required bool
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

// String returns a setting for any text. In this and the following functions, the default is
// the present value of *to.
func String(name string, to *string, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: *to, set: func(text string) error {
		*to = text
		return nil
	}}
}

// Choice returns a setting for one of several words, in upper or lower case.
func Choice(name string, to *string, usage string, words ...string) Setting {
	return Setting{Name: name, Usage: usage, Default: *to, set: func(text string) error {
		for _, word := range words {
			if strings.EqualFold(word, text) {
				*to = word
				return nil
			}
		}
		return fmt.Errorf("expected one of %s", strings.Join(words, ", "))
	}}
}

// parsed returns a setting whose text the function parse converts. expected describes the
// texts that parse accepts.
func parsed[T any](name string, to *T, usage, shown string, parse func(text string) (T, error), expected string) Setting {
	return Setting{Name: name, Usage: usage, Default: shown, set: func(text string) error {
		value, err := parse(text)
		if err != nil {
			return errors.New("expected " + expected)
		}
		*to = value
		return nil
	}}
}

// atLeast returns a function that parses like parse and refuses values below least.
func atLeast[T cmp.Ordered](least T, parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		value, err := parse(text)
		if err == nil && value < least {
			err = errors.New("too small")
		}
		return value, err
	}
}

// Int returns a setting for a whole number that is not below least.
func Int(name string, to *int, least int, usage string) Setting {
	return parsed(name, to, usage, strconv.Itoa(*to), atLeast(least, strconv.Atoi), fmt.Sprintf("a whole number of at least %d", least))
}

// Size returns a setting for a number of bytes, with k, m, g or t for powers of 1024.
func Size(name string, to *int64, usage string) Setting {
	return parsed(name, to, usage, formatSize(*to), atLeast(0, conf.ParseSize), "a number of bytes such as 512m or 10g")
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
func Duration(name string, to *time.Duration, usage string) Setting {
	shown := ""
	if *to != 0 {
		shown = to.String()
	}
	return parsed(name, to, usage, shown, atLeast(1, conf.ParseDuration), "a time such as 500ms or 10s")
}

// Bool returns a setting that is true or false.
func Bool(name string, to *bool, usage string) Setting {
	s := parsed(name, to, usage, strconv.FormatBool(*to), conf.ParseBool, "true or false")
	s.IsBool = true
	return s
}

// Strings returns a setting for items joined by commas, or for a list in a file. A comma
// inside an item has a backslash before it, as in Hadoop (see EscapeItem). A list replaces
// the list of a weaker source.
func Strings(name string, to *[]string, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: strings.Join(*to, ","), set: func(text string) error {
		*to = splitItems(text)
		return nil
	}}
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
