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
	text     func() string           // the present value, as a user types it
	value    func() any              // the present value
	store    func(value any)         // stores what value of the same setting has returned
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

// Reloadable returns the setting as one that a running daemon changes when it reloads its
// settings. A change of any other setting needs a restart.
func (s Setting) Reloadable() Setting {
	s.live = true
	return s
}

// IsReloadable reports whether a running daemon changes the setting when it reloads.
func (s Setting) IsReloadable() bool { return s.live }

// newSetting returns the setting that is stored in *to. Its default is the present value.
func newSetting[T any](name string, to *T, usage string, format func(T) string, parse func(text string) (T, error)) Setting {
	return Setting{
		Name: name, Usage: usage, Default: format(*to),
		set: func(text string) error {
			value, err := parse(text)
			if err == nil {
				*to = value
			}
			return err
		},
		text:  func() string { return format(*to) },
		value: func() any { return *to },
		store: func(value any) { *to = value.(T) },
	}
}

// String returns a setting for any text. In this and the following functions, the default is
// the present value of *to.
func String(name string, to *string, usage string) Setting {
	return newSetting(name, to, usage, asTyped, func(text string) (string, error) { return text, nil })
}

// asTyped formats a text.
func asTyped(text string) string { return text }

// Choice returns a setting for one of several words, in upper or lower case.
func Choice(name string, to *string, usage string, words ...string) Setting {
	return newSetting(name, to, usage, asTyped, func(text string) (string, error) {
		for _, word := range words {
			if strings.EqualFold(word, text) {
				return word, nil
			}
		}
		return "", fmt.Errorf("expected one of %s", strings.Join(words, ", "))
	})
}

// parsed returns a setting whose text the function parse converts. expected describes the
// texts that parse accepts.
func parsed[T any](name string, to *T, usage string, format func(T) string, parse func(text string) (T, error), expected string) Setting {
	return newSetting(name, to, usage, format, func(text string) (T, error) {
		value, err := parse(text)
		if err != nil {
			err = errors.New("expected " + expected)
		}
		return value, err
	})
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
	return parsed(name, to, usage, strconv.Itoa, atLeast(least, strconv.Atoi), fmt.Sprintf("a whole number of at least %d", least))
}

// Size returns a setting for a number of bytes, with k, m, g or t for powers of 1024.
func Size(name string, to *int64, usage string) Setting {
	return parsed(name, to, usage, formatSize, atLeast(0, conf.ParseSize), "a number of bytes such as 512m or 10g")
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
	return parsed(name, to, usage, formatDuration, atLeast(1, conf.ParseDuration), "a time such as 500ms or 10s")
}

// formatDuration formats a time; 0 means that no source has one.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Bool returns a setting that is true or false.
func Bool(name string, to *bool, usage string) Setting {
	s := parsed(name, to, usage, strconv.FormatBool, conf.ParseBool, "true or false")
	s.IsBool = true
	return s
}

// Strings returns a setting for items joined by commas, or for a list in a file. A comma
// inside an item has a backslash before it, as in Hadoop (see EscapeItem). A list replaces
// the list of a weaker source.
func Strings(name string, to *[]string, usage string) Setting {
	return newSetting(name, to, usage,
		func(items []string) string { return strings.Join(items, ",") },
		func(text string) ([]string, error) { return splitItems(text), nil })
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
