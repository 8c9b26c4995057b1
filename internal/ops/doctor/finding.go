package doctor

import (
	"fmt"
	"slices"
)

// State is what a check has found. States are in order of severity.
type State int

const (
	// OK means that there is nothing to do.
	OK State = iota
	// Skipped means that the check does not apply, or that something it needs is missing.
	Skipped
	// Warn means that the subject works, but not as well or as safely as it could.
	Warn
	// Fault means that something does not work, or is open to other users.
	Fault
)

var stateNames = []string{"ok", "skipped", "warn", "fault"}

func (s State) String() string { return stateNames[s] }

// MarshalText implements encoding.TextMarshaler, for JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames, string(text))
	if i < 0 {
		return fmt.Errorf("state %q: expected one of %v", text, stateNames)
	}
	*s = State(i)
	return nil
}

// Finding is what a check has found about one subject, such as a directory.
type Finding struct {
	Check  string `json:"check"` // Run sets it
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // what to do; only if State is Warn or Fault
	// Millis is the time of a connection, in ms; 0 if the check measures none.
	Millis float64 `json:"millis,omitempty"`
	Fixed  bool    `json:"fixed,omitempty"` // Fix has been carried out; State is OK then
	Fix    *Fix    `json:"-"`               // nil if only an operator can do something
}

// Fix is a change that removes the cause of a finding and harms nothing.
type Fix struct {
	Done string // what has been done then, as "made the directory"
	Do   func() error
}

func ok(format string, args ...any) Finding {
	return Finding{State: OK, Detail: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) Finding {
	return Finding{State: Skipped, Detail: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) Finding {
	return Finding{State: Warn, Remedy: remedy, Detail: fmt.Sprintf(format, args...)}
}

func fault(remedy, format string, args ...any) Finding {
	return Finding{State: Fault, Remedy: remedy, Detail: fmt.Sprintf(format, args...)}
}

// withFix adds a fix to a finding.
func (f Finding) withFix(done string, do func() error) Finding {
	f.Fix = &Fix{Done: done, Do: do}
	return f
}

// apply carries out the fix of a finding and returns what holds then. A finding without a fix stays as it is.
func (f Finding) apply() Finding {
	if f.Fix == nil || f.State < Warn {
		return f
	}
	if err := f.Fix.Do(); err != nil {
		f.Detail += fmt.Sprintf("; --fix failed: %v", err)
		return f
	}
	return Finding{State: OK, Fixed: true, Detail: fmt.Sprintf("%s, because: %s", f.Fix.Done, f.Detail)}
}

// Report is what all checks have found on a host. It is also the JSON document of `hammr doctor --json`.
type Report struct {
	Host     string    `json:"host"`
	Version  string    `json:"version"` // of the program; "" if unknown
	Time     int64     `json:"time"`    // when the checks began, ms since the epoch by the clock of the host
	Findings []Finding `json:"findings"`
}

// Count returns the number of findings in a state.
func (r Report) Count(s State) (n int) {
	for _, f := range r.Findings {
		if f.State == s {
			n++
		}
	}
	return n
}
