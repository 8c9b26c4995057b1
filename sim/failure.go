package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/sim/workload"
)

// Failure is the loss of a machine: at a time, or when a job has come so far. Of
// maps, Percent is how many have finished; of reduces, how much of their work is
// done, the shuffle not counted. At 0 % that is when the first one starts. A job
// that never comes so far fails no machine.
type Failure struct {
	Machine   int   // number of the machine, from 0
	At        int64 // ms since the start of the run; with Job, since the job has come so far
	BackAfter int64 // ms after which it is back, empty; 0 for never

	Job     string  // id in the workload, "" for none
	Phase   string  // "map" or "reduce"; with Job only
	Percent float64 // 0 to 100; with Job only
}

func (f Failure) String() string {
	if f.Job == "" {
		return fmt.Sprintf("failure of machine %s at %d ms for %d ms", MachineName(f.Machine), f.At, f.BackAfter)
	}
	return fmt.Sprintf("failure of machine %s at %v %% of phase %q of job %q", MachineName(f.Machine), f.Percent, f.Phase, f.Job)
}

// validate holds a failure against the number of machines.
func (f Failure) validate(nodes int) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("sim: %v: "+format, append([]any{f}, args...)...))
	}
	if f.Machine < 0 || f.Machine >= nodes {
		fault("there are machines %s to %s", MachineName(0), MachineName(nodes-1))
	}
	if f.At < 0 || f.BackAfter < 0 {
		fault("times may not be negative")
	}
	if f.Job == "" && (f.Phase != "" || f.Percent != 0) {
		fault("it names no job for phase %q and %v %%", f.Phase, f.Percent)
	}
	if f.Job != "" && f.Phase != "map" && f.Phase != "reduce" {
		fault("the phase is map or reduce")
	}
	if f.Job != "" && !(f.Percent >= 0 && f.Percent <= 100) {
		fault("expected 0 to 100 %%")
	}
	return errors.Join(faults...)
}

// validateTriggers names the failures that wait for what no job of the workload has.
func (c *Config) validateTriggers(w *workload.Workload) error {
	var faults []error
	for _, f := range c.Failures {
		if f.Job == "" {
			continue
		}
		i := slices.IndexFunc(w.Jobs, func(j workload.Job) bool { return j.ID == f.Job })
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("sim: %v: workload %s has no such job", f, w.Name))
		case f.Phase == "reduce" && len(w.Jobs[i].Reduces) == 0:
			faults = append(faults, fmt.Errorf("sim: %v: it has no reduces", f))
		}
	}
	return errors.Join(faults...)
}
