package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// siteFiles are the files of a configuration directory that are read, in this order.
var siteFiles = []string{"core-site.xml", "hdfs-site.xml", "mapred-site.xml"}

// Sources says what Load reads. Later sources override earlier ones.
type Sources struct {
	// Dir holds core-site.xml, hdfs-site.xml and mapred-site.xml; each may be missing.
	// Default $HADOOP_CONF_DIR, else $HADOOP_HOME/etc/hadoop, else none.
	Dir string
	// Files are the files of -conf, in the same format; they must exist.
	Files []string
	// Define is the name=value of each -D.
	Define []string
	// Env reads the environment. Default os.Getenv.
	Env func(string) string
}

// Load reads the configuration of a command, in the order of the fields of Sources. Later
// files do not change a <final> property of a file; only -D does. Variables are replaced after
// everything has been read, since a value may name a property that a later file sets. Errors
// report every problem at once, with file and line. Validate checks bounds.
func Load(s Sources) (c *Conf, warnings []string, err error) {
	if s.Env == nil {
		s.Env = os.Getenv
	}
	l := loader{gathered: map[string]gathered{}}
	l.readDir(s.siteDir())
	for _, name := range s.Files {
		settings, err := readFile(name)
		if err != nil {
			l.errs = append(l.errs, fmt.Errorf("-conf: %w", err))
		}
		l.add(settings, true)
	}
	for _, definition := range s.Define {
		name, text, ok := strings.Cut(definition, "=")
		if !ok {
			l.errs = append(l.errs, fmt.Errorf("-D %s: expected name=value", definition))
			continue
		}
		l.put(setting{name: name, text: text, origin: "-D"}, true)
	}
	return l.finish(s.Env)
}

// loader collects settings by current name before it checks any, because the meaning of a
// value depends on the variables in it.
type loader struct {
	// By current name; a value here may still be overridden.
	gathered map[string]gathered
	warnings []string
	errs     []error
}

// gathered is a setting that may still be overridden, and is not checked yet.
type gathered struct {
	setting
	typed bool // by the user, not in a site's file
}

// siteDir returns the directory of the site's files, "" if there is none.
func (s *Sources) siteDir() string {
	if s.Dir != "" {
		return s.Dir
	}
	if dir := s.Env("HADOOP_CONF_DIR"); dir != "" {
		return dir
	}
	if home := s.Env("HADOOP_HOME"); home != "" {
		return filepath.Join(home, "etc", "hadoop")
	}
	return ""
}

// readDir reads the site's files. A named directory that does not exist gives a warning,
// because none of its settings apply. A missing file in the directory is normal.
func (l *loader) readDir(dir string) {
	if dir == "" {
		return
	}
	if _, err := os.Stat(dir); err != nil {
		l.warnings = append(l.warnings, fmt.Sprintf("configuration directory is not read: %v", err))
		return
	}
	for _, name := range siteFiles {
		name = filepath.Join(dir, name)
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		settings, err := readFile(name)
		if err != nil {
			l.errs = append(l.errs, err)
		}
		l.add(settings, false)
	}
}

// add takes the settings of one file. The last setting of a name counts, unless an earlier
// one is final. Then the later setting is ignored, with Hadoop's warning.
func (l *loader) add(settings []setting, typed bool) {
	for _, s := range settings {
		name, _ := undeprecated(s.name)
		if l.gathered[name].final {
			l.warnings = append(l.warnings, fmt.Sprintf("%s: an attempt to override final parameter: %s; Ignoring.", s.origin, s.name))
			continue
		}
		l.put(s, typed)
	}
}

// put records a setting. It replaces an earlier setting of the same property, by old or new
// name.
func (l *loader) put(s setting, typed bool) {
	name, _ := undeprecated(strings.TrimSpace(s.name))
	l.gathered[name] = gathered{setting: s, typed: typed}
}

// finish replaces variables and checks every value. It processes properties by name, so that
// warnings and errors have the same order each time.
func (l *loader) finish(env func(string) string) (*Conf, []string, error) {
	// Values may name each other in any order, so all are known before the first is expanded.
	e := expander{properties: map[string]value{}, env: env}
	for name, g := range l.gathered {
		e.properties[name] = value{text: g.text, origin: g.origin}
	}
	c := New()
	for _, name := range slices.Sorted(maps.Keys(l.gathered)) {
		g := l.gathered[name]
		text, err := e.value(name, g.text)
		v := value{text: text, origin: g.origin}
		if err != nil {
			l.errs = append(l.errs, property(g.name, value{text: g.text, origin: g.origin}, err))
			continue
		}
		if k := table[name]; k != nil && k.Kind != String && !g.typed && strings.TrimSpace(text) == "" {
			continue // an empty value in a site's file means the default
		}
		warnings, err := c.set(g.name, v, g.typed)
		warnings = append(warnings, unknown(g.name)...)
		for _, w := range warnings {
			if g.origin != "-D" {
				w = g.origin + ": " + w
			}
			l.warnings = append(l.warnings, w)
		}
		if err != nil {
			l.errs = append(l.errs, err)
		}
	}
	return c, l.warnings, errors.Join(l.errs...)
}
