// Package conf is the configuration of a job and of the engine: Hadoop's property names and
// files, and Hammr's own names below hammr. The table in keys.go declares each property that
// the engine reads, with its kind, default and bounds. To add a property, add a line there.
//
//	c, warnings, err := conf.Load(conf.Sources{Define: []string{"io.sort.mb=200"}})
//	…
//	if err := c.Validate(); err != nil { … } // every error at once
//	mb := c.Int("mapreduce.task.io.sort.mb")
//
// The sources of a command's configuration, each over the ones above it:
//
//	defaults of the table
//	core-site.xml, hdfs-site.xml, mapred-site.xml of HADOOP_CONF_DIR
//	files of -conf, in their order
//	-D name=value
//
// A <final> property of a file is changed by -D only. Old names of a property are resolved
// wherever they occur, with a warning if the user has typed them. Variables, as
// ${hadoop.tmp.dir}, are replaced after all sources have been read.
//
// Set checks the kind of a value, so that the getters of declared properties cannot fail.
// Properties that are not declared are the user's own, and kept as they are. Those of Hadoop that
// Hammr does not implement are in hadoop.go: Validate refuses those that would change results,
// unless they have their defaults.
package conf

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conf holds properties. Many goroutines may read it, or one may write it.
type Conf struct {
	values map[string]value // by current name
}

// value is the text of a property as it was set, with white space, and its origin.
type value struct {
	text   string
	origin string // "core-site.xml:12", or "" if set by code
}

// New returns a configuration with only defaults.
func New() *Conf { return &Conf{values: map[string]value{}} }

// Set gives a property a value. It resolves old names. It refuses a value of the wrong kind,
// and an undeclared name that begins with hammr. There may be warnings for the user in
// addition to an error.
func (c *Conf) Set(name, text string) (warnings []string, err error) {
	warnings, err = c.set(name, value{text: text}, true)
	return append(warnings, unknown(name)...), err
}

// set sets a property. Files of a site hold the properties of all of Hadoop, so warnings about
// Hadoop's old names and about what is ignored are only for properties that the user typed. An unknown name
// below hammr is an error wherever it is from: no other program has a use for it.
func (c *Conf) set(name string, v value, typed bool) (warnings []string, err error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, fmt.Errorf("property without a name has the value %s", quote(v.text))
	}
	canonical, deprecated := undeprecated(name)
	if deprecated && (typed || strings.HasPrefix(canonical, "hammr.")) {
		warnings = append(warnings, fmt.Sprintf("%s is deprecated. Instead, use %s", name, canonical))
	}
	k := table[canonical]
	switch {
	case k != nil && k.unset != "" && strings.TrimSpace(v.text) == k.unset:
		delete(c.values, canonical)
		return warnings, nil
	case k != nil:
		if err := k.check(v.text); err != nil {
			return warnings, property(name, v, err)
		}
		if k.Ignored != "" && (typed || strings.HasPrefix(name, fairScheduler)) && k.canonical(v.text) != k.canonical(k.Default) {
			warnings = append(warnings, fmt.Sprintf("%s=%s %s", name, strings.TrimSpace(v.text), k.Ignored))
		}
	case strings.HasPrefix(name, "hammr."):
		return warnings, property(name, v, errors.New("unknown property"+didYouMean(nearest(name, "hammr.", len(name)))))
	}
	c.values[canonical] = v
	return warnings, nil
}

// property adds to an error the property and where it was set.
func property(name string, v value, err error) error {
	if v.origin != "" {
		return fmt.Errorf("%s: %s=%s: %w", v.origin, name, v.text, err)
	}
	return fmt.Errorf("%s=%s: %w", name, v.text, err)
}

// didYouMean returns a suggestion for the end of an error, or "" for none.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// Lookup returns the value of any property, or its default. ok is false if it has neither.
func (c *Conf) Lookup(name string) (text string, ok bool) {
	name, _ = undeprecated(name)
	if v, ok := c.values[name]; ok {
		return v.text, true
	}
	if k := table[name]; k != nil {
		return k.Default, true
	}
	return "", false
}

// IsSet reports whether a property was given a value, even if that equals the default.
func (c *Conf) IsSet(name string) bool {
	name, _ = undeprecated(name)
	_, ok := c.values[name]
	return ok
}

// String returns the text of any property, "" if it has none.
func (c *Conf) String(name string) string {
	text, _ := c.Lookup(name)
	if k := table[name]; k != nil && k.Kind == Class {
		text = strings.TrimSpace(text)
	}
	return text
}

// typed returns the text of a declared property, or of its default. It panics for a property
// of another kind, which is a bug in the caller: Set has checked the text for the declared
// kind only.
func (c *Conf) typed(name string, kind Kind) string {
	k := table[name]
	if k == nil || k.Kind != kind {
		panic(fmt.Sprintf("conf: %s is not declared as %v", name, kind))
	}
	text, _ := c.Lookup(name)
	return strings.TrimSpace(text)
}

// Int returns a declared property of kind Int that fits an int.
func (c *Conf) Int(name string) int { return int(c.Int64(name)) }

// Int64 returns a declared property of kind Int.
func (c *Conf) Int64(name string) int64 {
	n, _ := strconv.ParseInt(c.typed(name, Int), 10, 64) // checked by Set
	return n
}

// Float returns a declared property of kind Float.
func (c *Conf) Float(name string) float64 {
	f, _ := parseFloat(c.typed(name, Float)) // checked by Set
	return f
}

// Bool returns a declared property of kind Bool.
func (c *Conf) Bool(name string) bool {
	b, _ := ParseBool(c.typed(name, Bool)) // checked by Set
	return b
}

// Bytes returns a declared property of kind Size.
func (c *Conf) Bytes(name string) int64 {
	n, _ := ParseSize(c.typed(name, Size)) // checked by Set
	return n
}

// Duration returns a declared property of kind Duration.
func (c *Conf) Duration(name string) time.Duration {
	d, _ := ParseDuration(c.typed(name, Duration)) // checked by Set
	return d
}

// Strings returns any property as a list of its parts between commas, trimmed and without
// empty ones.
func (c *Conf) Strings(name string) []string { return splitList(c.String(name)) }

// Validate reports every value that is out of bounds or that Hammr does not implement, each
// with its origin. Set does not check this, because a later source may replace a wrong
// value.
func (c *Conf) Validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if k := table[name]; k != nil {
			if err := k.checkRange(c.values[name].text); err != nil {
				errs = append(errs, property(name, c.values[name], err))
			}
		}
	}
	// This is the only rule about two properties: an empty range of sizes would make no
	// split.
	const least, most = "mapreduce.input.fileinputformat.split.minsize", "mapreduce.input.fileinputformat.split.maxsize"
	if c.IsSet(least) && c.Bytes(least) > c.Bytes(most) {
		errs = append(errs, fmt.Errorf("%s=%s: expected at most %s, which is %s", least, c.String(least), most, c.String(most)))
	}
	return errors.Join(errs...)
}

// FromMap makes a configuration from the result of Map or from a message. It reports all
// errors. An error means that the sender has another version, since the sender has checked the
// properties.
func FromMap(properties map[string]string) (*Conf, error) {
	c := New()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		_, err := c.set(name, value{text: properties[name]}, false)
		errs = append(errs, err)
	}
	return c, errors.Join(errs...)
}

// Map returns every property that was given a value, by current name. These properties are
// sent to a job's tasks, where FromMap reads them. They include values that equal the default,
// because an explicit choice of the default may differ from none: IsSet is the same in a task.
func (c *Conf) Map() map[string]string {
	all := make(map[string]string, len(c.values))
	for name, v := range c.values {
		all[name] = v.text
	}
	return all
}

// Clone returns a copy that can be changed on its own.
func (c *Conf) Clone() *Conf { return &Conf{values: maps.Clone(c.values)} }
