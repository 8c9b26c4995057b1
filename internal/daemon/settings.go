package daemon

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Settings are all settings of a daemon.
type Settings []Setting

// Sources are the places where settings come from. Flags override variables, and variables
// override the file.
type Sources struct {
	// Flags are the flags of the command line, by name.
	Flags map[string]string
	// Env looks up an environment variable; nil finds none.
	Env func(name string) (value string, found bool)
	// File is a YAML file with a key for each setting; "" means no file.
	File string
}

// EnsureDefaults gives each setting without a value its default. Call it before you set other
// values: a 0 that is set afterwards stays 0.
func (s Settings) EnsureDefaults() {
	for _, setting := range s {
		if setting.isZero() {
			setting.reset()
		}
	}
}

// Validate reports each required setting that has no value, each value that no source could
// have, and each that does not pass its check.
func (s Settings) Validate() error {
	var errs []error
	for _, setting := range s {
		switch {
		case !setting.isZero():
			errs = append(errs, setting.examine())
		case setting.required:
			errs = append(errs, fmt.Errorf("--%s is missing", setting.Name))
		}
	}
	return errors.Join(errs...)
}

// Load sets all settings, after their defaults. It reports all errors at once, each with its source, including
// errors of values that another source overrides.
//
// It parses the weakest source first, so that stronger sources overwrite its values. A wrong
// value is an error even if it is overridden, because it would take effect if the stronger
// value were removed.
func (s Settings) Load(in Sources) error {
	s.EnsureDefaults()
	errs := s.loadFile(in.File)
	for _, setting := range s {
		if in.Env == nil {
			break
		}
		if text, found := in.Env(setting.Env()); found && text != "" {
			errs = append(errs, setting.take(text, "environment variable "+setting.Env()))
		}
	}
	for _, setting := range s {
		if text, found := in.Flags[setting.Name]; found {
			errs = append(errs, setting.take(text, "--"+setting.Name))
		}
	}
	for _, setting := range s {
		if setting.required && setting.isZero() {
			errs = append(errs, fmt.Errorf("--%s is missing; set it, or %s, or %s in the file of --config",
				setting.Name, setting.Env(), setting.Name))
		}
	}
	return errors.Join(errs...)
}

// loadFile sets the settings of a file. It returns the problems of the file: unknown keys, values
// that are neither scalars nor lists, wrong values, and malformed YAML.
func (s Settings) loadFile(name string) (errs []error) {
	if name == "" {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return []error{fmt.Errorf("configuration file: %w", err)}
	}
	entries, err := parseFile(data)
	if err != nil {
		return []error{fmt.Errorf("%s: %w", name, err)}
	}
	for _, e := range entries {
		source := fmt.Sprintf("%s:%d: %s", name, e.line, e.key)
		i := slices.IndexFunc(s, func(setting Setting) bool { return setting.Name == e.key })
		switch {
		case i < 0:
			errs = append(errs, fmt.Errorf("%s: no such setting; --help lists them", source))
		case e.err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", source, e.err))
		default:
			errs = append(errs, s[i].take(e.text, source))
		}
	}
	return errs
}
