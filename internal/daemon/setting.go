package daemon

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
)

// Setting is one thing that a daemon can be told: by a flag of its name, by the
// variable Env, or by a key of its name in a file.
type Setting struct {
	Name    string // words in small letters, joined by "-"
	Usage   string // a phrase; what is in back quotes stands for the value
	Default string // as it could be typed
	IsBool  bool   // as a flag it needs no value

	set      func(text string) error
	required bool
}

// Env is the name of the variable that the setting is read from.
func (s Setting) Env() string {
	return "HAMMR_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Required is the setting with no default: whoever starts the daemon tells it.
func (s Setting) Required() Setting {
	s.required = true
	return s
}

// String is a setting that is taken as it stands. The default is what to points
// at, here and in the functions below.
func String(name string, to *string, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: *to, set: func(text string) error {
		*to = text
		return nil
	}}
}

// Choice is one of some words.
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

// Int is a whole number of at least least.
func Int(name string, to *int, least int, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: strconv.Itoa(*to), set: func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("expected a whole number of at least %d", least)
		}
		*to = n
		return nil
	}}
}

// Size is a number of bytes, with k, m, g or t for powers of 1024.
func Size(name string, to *int64, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: formatSize(*to), set: func(text string) error {
		n, err := conf.ParseSize(text)
		if err != nil || n < 0 {
			return fmt.Errorf("expected a number of bytes such as 512m or 10g")
		}
		*to = n
		return nil
	}}
}

// formatSize is how a person would type a number of bytes.
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

// Duration is a positive time: milliseconds, or a number with ms, s, m or h.
func Duration(name string, to *time.Duration, usage string) Setting {
	shown := ""
	if *to != 0 {
		shown = to.String()
	}
	return Setting{Name: name, Usage: usage, Default: shown, set: func(text string) error {
		d, err := conf.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("expected a time such as 500ms or 10s")
		}
		*to = d
		return nil
	}}
}

// Bool is true or false.
func Bool(name string, to *bool, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: strconv.FormatBool(*to), IsBool: true, set: func(text string) error {
		b, err := conf.ParseBool(text)
		if err != nil {
			return fmt.Errorf("expected true or false")
		}
		*to = b
		return nil
	}}
}

// Strings is some words joined by commas; in a file it may be a list. A comma that
// belongs to a word stands behind a backslash, as in Hadoop (see Word). A list
// replaces one that was set before.
func Strings(name string, to *[]string, usage string) Setting {
	return Setting{Name: name, Usage: usage, Default: strings.Join(*to, ","), set: func(text string) error {
		*to = splitItems(text)
		return nil
	}}
}

// EscapeItem is a word as it stands in a List.
func EscapeItem(word string) string { return strings.ReplaceAll(word, ",", `\,`) }

func splitItems(text string) (words []string) {
	begun := "" // of a word, up to a comma that belongs to it
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
