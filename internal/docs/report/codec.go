package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/internal/conf/counter"
)

// Marshal returns the document, indented and ended by a newline. It sets Version. It
// replaces nil lists and maps by empty ones, so that the document has no null and readers in
// typed languages need not handle it.
func (r Report) Marshal() ([]byte, error) {
	r.Version = Version
	r.fillEmpty()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("report of job %s: %w", r.JobID, err)
	}
	return b.Bytes(), nil
}

// fillEmpty replaces values that JSON would write as null, and numbers that JSON cannot
// represent. It copies the lists that it changes, so that the caller's report does not
// change.
func (r *Report) fillEmpty() {
	r.ElapsedSeconds = finite(r.ElapsedSeconds)
	r.Phases = orEmpty(r.Phases)
	for i := range r.Phases {
		r.Phases[i].Seconds = finite(r.Phases[i].Seconds)
	}
	r.Tasks = orEmpty(r.Tasks)
	for i := range r.Tasks {
		r.Tasks[i].Attempts = orEmpty(r.Tasks[i].Attempts)
	}
	r.Partitions = orEmpty(r.Partitions)
	r.Failures = orEmpty(r.Failures)
	if r.Counters == nil {
		r.Counters = counter.Values{}
	}
	if r.Configuration == nil {
		r.Configuration = map[string]string{}
	}
}

// orEmpty returns a copy of list that is never nil.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// finite replaces numbers that JSON cannot represent by 0.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// Parse reads a document. It refuses other versions and unknown states, and ignores
// unknown fields.
func Parse(data []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return Report{}, fmt.Errorf("malformed job report: %w", err)
	}
	if r.Version != Version {
		return Report{}, fmt.Errorf("job report of version %d, this program reads version %d", r.Version, Version)
	}
	if err := r.checkStates(); err != nil {
		return Report{}, err
	}
	r.fillEmpty()
	return r, nil
}

// checkStates refuses states that this version does not know: a program that reads the
// report would not recognize them.
func (r *Report) checkStates() error {
	if !slices.Contains(states, r.State) {
		return fmt.Errorf("job report with unknown state %q of job %q", r.State, r.JobID)
	}
	for _, t := range r.Tasks {
		if !slices.Contains(states, t.State) {
			return fmt.Errorf("job report with unknown state %q of task %q", t.State, t.ID)
		}
		for _, a := range t.Attempts {
			if a.State != Preempted && !slices.Contains(states, a.State) {
				return fmt.Errorf("job report with unknown state %q of attempt %q", a.State, a.ID)
			}
		}
	}
	return nil
}

// states lists the states of jobs and tasks; attempts may also be Preempted.
var states = []State{Running, Succeeded, Failed, Killed}
