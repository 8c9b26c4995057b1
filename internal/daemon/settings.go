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

// Load sets all settings. It reports all errors at once, each with its source, including
// errors of values that another source overrides.
//
// It parses the weakest source first, so that stronger sources overwrite its values. A wrong
// value is an error even if it is overridden, because it would take effect if the stronger
// value were removed.
func (s Settings) Load(in Sources) error {
	var errs []error
	given := make(map[string]bool)
	take := func(setting Setting, text, source string) {
		given[setting.Name] = true
		if err := setting.set(text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %q: %w", source, text, err))
		}
	}
	errs = append(errs, s.loadFile(in.File, take)...)
	for _, setting := range s {
		if in.Env == nil {
			break
		}
		if text, found := in.Env(setting.Env()); found && text != "" {
			take(setting, text, "environment variable "+setting.Env())
		}
	}
	for _, setting := range s {
		if text, found := in.Flags[setting.Name]; found {
			take(setting, text, "--"+setting.Name)
		}
	}
	for _, setting := range s {
		if setting.required && !given[setting.Name] {
			errs = append(errs, fmt.Errorf("--%s is missing; set it, or %s, or %s in the file of --config",
				setting.Name, setting.Env(), setting.Name))
		}
	}
	return errors.Join(errs...)
}

// loadFile calls take for each setting of a file. It returns the problems of the file:
// unknown keys, values that are neither scalars nor lists, and malformed YAML.
func (s Settings) loadFile(name string, take func(setting Setting, text, source string)) (errs []error) {
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
			take(s[i], e.text, source)
		}
	}
	return errs
}
