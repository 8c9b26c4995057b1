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

// siteFiles are what is read of a configuration directory, in this order.
var siteFiles = []string{"core-site.xml", "hdfs-site.xml", "mapred-site.xml"}

// Sources are where Load looks, the later ones of them winning.
type Sources struct {
	// Dir holds core-site.xml, hdfs-site.xml and mapred-site.xml; each may be
	// missing. Default $HADOOP_CONF_DIR, else $HADOOP_HOME/etc/hadoop, else
	// none.
	Dir string
	// Files are those of -conf, in the same XML; they have to be there.
	Files []string
	// Define are the name=value of -D.
	Define []string
	// Env reads the environment. Default os.Getenv.
	Env func(string) string
}

// Load gathers the configuration of a command. A <final> property of a file is
// not changed by what follows in files, only by -D. Variables are replaced once all is
// read. Errors tell of every fault at once, with file and line; bounds are left
// to Validate.
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

// loader gathers settings by undeprecated name before any is checked, since
// what a value means depends on the variables in it.
type loader struct {
	gathered map[string]gathered
	warnings []string
	errs     []error
}

type gathered struct {
	setting
	typed bool // by this user, not by who runs the site
}

// siteDir is the directory of the site's files, or "".
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

// readDir reads the site's files. A directory that is named and not there is
// worth a warning, since nothing of it is in force.
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

// add takes the settings of one file; the last one of a name counts, unless an
// earlier one is final.
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

func (l *loader) put(s setting, typed bool) {
	name, _ := undeprecated(strings.TrimSpace(s.name))
	l.gathered[name] = gathered{setting: s, typed: typed}
}

// finish replaces variables and checks every value.
func (l *loader) finish(env func(string) string) (*Conf, []string, error) {
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
			continue // an empty value of a site's file stands for the default
		}
		warnings, err := c.set(g.name, v, g.typed)
		l.warnings = append(l.warnings, warnings...)
		if err != nil {
			l.errs = append(l.errs, err)
		}
	}
	return c, l.warnings, errors.Join(l.errs...)
}
