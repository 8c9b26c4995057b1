package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/kit/login"
)

// Limits for the expansion of one value. Values that contain each other many times would
// grow without bound, as in XML's "billion laughs" attack.
const (
	maxExpanded  = 1 << 20 // bytes
	maxVariables = 10_000
)

// expander replaces ${name} in values by other properties, and ${env.X}, ${env.X-default}
// and ${env.X:-default} by environment variables. An unknown variable stays as it is.
type expander struct {
	// All that were gathered: a value may name a property of a later file.
	properties map[string]value // by current name
	env        func(string) string
	left       int // variables that may still be replaced in this value
}

// value returns the text of a property without variables.
func (e *expander) value(name, text string) (string, error) {
	e.left = maxVariables
	return e.expand(text, name)
}

// expand replaces the variables in a text that is part of the properties within. A variable
// may contain others, but not itself, directly or through others. "${" without an end stays as
// it is.
func (e *expander) expand(text string, within ...string) (string, error) {
	var out strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			break
		}
		length := strings.IndexByte(text[start:], '}')
		if length < 0 {
			break
		}
		out.WriteString(text[:start])
		variable := text[start : start+length+1]
		text = text[start+length+1:]
		replaced, err := e.variable(variable, within)
		if err != nil {
			return "", err
		}
		out.WriteString(replaced)
		if out.Len() > maxExpanded {
			return "", fmt.Errorf("variables grow to more than %d bytes", maxExpanded)
		}
	}
	out.WriteString(text)
	return out.String(), nil
}

// variable returns the value of ${name}, with the variables in it replaced. It returns an
// unknown variable unchanged, as Hadoop does.
func (e *expander) variable(variable string, within []string) (string, error) {
	name := variable[len("${") : len(variable)-1]
	if text, ok := strings.CutPrefix(name, "env."); ok {
		return e.environment(text), nil
	}
	if slices.Contains(within, name) {
		return "", fmt.Errorf("variable %s refers to itself", variable)
	}
	text, ok := e.lookup(name)
	if !ok {
		return variable, nil
	}
	if e.left--; e.left < 0 {
		return "", fmt.Errorf("variables refer to more than %d others", maxVariables)
	}
	return e.expand(text, append(slices.Clip(within), name)...)
}

// environment reads "X", "X-default" and "X:-default". Env does not distinguish an unset variable
// from an empty one, so both defaults apply to both.
func (e *expander) environment(text string) string {
	name, fallback, found := strings.Cut(text, "-")
	if found {
		name = strings.TrimSuffix(name, ":")
	}
	if set := e.env(name); set != "" {
		return set
	}
	return fallback
}

// lookup searches properties, then the system properties of Java and Hadoop, then defaults.
// Site files use the system properties in paths.
func (e *expander) lookup(name string) (string, bool) {
	current, _ := undeprecated(name)
	if v, ok := e.properties[current]; ok {
		return v.text, true
	}
	switch name {
	case "user.name":
		return login.NameIn(e.env), true
	case "user.home":
		return e.env("HOME"), true
	case "java.io.tmpdir":
		return os.TempDir(), true
	case "hadoop.tmp.dir":
		return filepath.Join(os.TempDir(), "hadoop-"+login.NameIn(e.env)), true
	}
	if k := table[current]; k != nil {
		return k.Default, true
	}
	return "", false
}
