package clean

import (
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// Hidden is shown in place of a secret, whatever its length.
const Hidden = "********"

// RedactedProperties is the property with the names of further secret properties of a job, separated
// by commas. Hadoop has it too.
const RedactedProperties = "mapreduce.job.redacted-properties"

// secretName matches names of properties that look like those of secrets.
var secretName = pattern.New(`(?i)password|passwd|secret|token|key$|credential`)

// Secrets in values: the password in a URL, and arguments of commands that set a property with the
// name of a secret.
var (
	urlPassword = pattern.New(`(\w://[^\s/:@]*:)[^\s/@]+@`)
	assignment  = pattern.New(`(?i)([\w.-]*(?:password|passwd|secret|token|credential)[\w.-]*\s*=\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)`)
)

// Secret reports whether the value of a property must not be shown: its name looks like that of a
// secret, or it is in named.
func Secret(name string, named []string) bool {
	return secretName().MatchString(name) || slices.Contains(named, name)
}

// Value returns the value of a property as it may be shown. The value of a secret is Hidden. Of any
// other value, the passwords in URLs and in assignments such as -Dx.password=… are.
func Value(name, value string, named []string) string {
	if Secret(name, named) {
		return Hidden
	}
	value = urlPassword().ReplaceAllString(value, "${1}"+Hidden+"@")
	return assignment().ReplaceAllString(value, "${1}"+Hidden)
}

// Properties returns a copy of the properties of a job, with values as they may be shown. Every page,
// file and answer with properties must show these.
func Properties(properties map[string]string) map[string]string {
	named := Named(properties)
	shown := maps.Clone(properties)
	for name, value := range properties {
		shown[name] = Value(name, value, named)
	}
	return shown
}

// Named returns the names in the property RedactedProperties of a job.
func Named(properties map[string]string) (names []string) {
	for name := range strings.SplitSeq(properties[RedactedProperties], ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
