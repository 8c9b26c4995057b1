package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// VerdictVersion is the version of a Verdict as JSON.
const VerdictVersion = 1

// Verdict is the outcome of a drill. Times are in ms. It is good if every job has succeeded
// and its output is equal, byte for byte, to the output of the same program in one
// undisturbed process. A fault that could not be injected does not make a verdict bad, but
// an error of an injection does.
type Verdict struct {
	Version int           `json:"version"`
	Seed    uint64        `json:"seed"`
	Good    bool          `json:"good"`
	Wrong   []string      `json:"wrong"` // the reasons of a bad verdict, a sentence each
	Faults  []FaultResult `json:"faults"`
	Jobs    []JobResult   `json:"jobs"`

	Bytes         int64 `json:"bytes"`         // of output, compared with an undisturbed run
	Lost          int64 `json:"lost"`          // output files that are missing, in excess, or different
	ExtraAttempts int   `json:"attemptsAgain"` // beyond one for each task
	WorkLost      int64 `json:"workLostMs"`    // ms of attempts whose work is in no output
	Recovery      int64 `json:"recoveryMs"`    // the longest of any fault; 0 if nothing was injected
	Elapsed       int64 `json:"elapsedMs"`     // from the first job's submission to the end of the last

	Reached Reached `json:"reached"` // the paths of recovery that the drill has reached
}

// Reached counts how often a drill has reached the paths of recovery. Paths that were not reached
// are left out.
type Reached map[Path]int64

// Path is a way in which a cluster recovers from a fault.
type Path string

// Paths of recovery.
const (
	FailedAttempt Path = "failed-attempt" // an attempt has failed, and another one was made
	LostAttempt   Path = "lost-attempt"   // an attempt was lost with its machine
	LostOutput    Path = "lost-output"    // the output of a task that had finished was made again
	ResumedWork   Path = "resumed-work"   // another attempt continued from a checkpoint or a split
	RepeatedFetch Path = "repeated-fetch" // a fetch of a segment has failed, and was repeated
	Election      Path = "election"       // masters have elected a leader
)

// Add counts a path.
func (r Reached) Add(p Path, n int64) {
	if n > 0 {
		r[p] += n
	}
}

// String lists the paths, as in "election=1+lost-attempt=3".
func (r Reached) String() string {
	var words []string
	for _, p := range slices.Sorted(maps.Keys(r)) {
		words = append(words, fmt.Sprintf("%s=%d", p, r[p]))
	}
	return strings.Join(words, "+")
}

// FaultResult is the outcome of one fault.
type FaultResult struct {
	Fault    string `json:"fault"`              // as in the plan
	Target   string `json:"target,omitempty"`   // what it hit, by name
	Injected bool   `json:"injected"`           // it was due, and there was something to hit
	At       int64  `json:"atMs,omitempty"`     // since the first job was submitted
	Recovery int64  `json:"recoveryMs"`         // until a master leads, or the work that was hit resumes; 0 if not injected
	Reason   string `json:"why,omitempty"`      // for not being injected
	TimedOut bool   `json:"timedOut,omitempty"` // no work resumed before the drill ended
}

// JobResult is the outcome of one job.
type JobResult struct {
	Name          string `json:"name"` // in the plan
	Program       string `json:"program"`
	ID            string `json:"id"`
	State         string `json:"state"`
	Cause         string `json:"cause,omitempty"`
	ExtraAttempts int    `json:"attemptsAgain"`
	Bytes         int64  `json:"bytes"`
	Lost          int64  `json:"lost"`
}

// Sum fills in the sums over faults and jobs. It also sets the version and Good, so a
// caller fills in everything else first.
func (v *Verdict) Sum() {
	v.Version = VerdictVersion
	v.Bytes, v.Lost, v.ExtraAttempts, v.Recovery = 0, 0, 0, 0
	for _, j := range v.Jobs {
		v.Bytes += j.Bytes
		v.Lost += j.Lost
		v.ExtraAttempts += j.ExtraAttempts
	}
	for _, f := range v.Faults {
		v.Recovery = max(v.Recovery, f.Recovery)
	}
	v.Good = len(v.Wrong) == 0 && v.Lost == 0
}

// Injected returns the number of injected faults.
func (v *Verdict) Injected() (n int) {
	for _, f := range v.Faults {
		if f.Injected {
			n++
		}
	}
	return n
}

// Label returns the verdict in one word.
func (v *Verdict) Label() string {
	if v.Good {
		return "good"
	}
	return "bad"
}

// JSON returns the verdict as a document.
func (v *Verdict) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// ParseVerdict reads a document.
func ParseVerdict(text []byte) (*Verdict, error) {
	v := new(Verdict)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("verdict: %w", err)
	}
	if v.Version != VerdictVersion {
		return nil, fmt.Errorf("verdict of version %d; this program reads version %d", v.Version, VerdictVersion)
	}
	return v, nil
}

// String returns the verdict for people, in lines.
func (v *Verdict) String() string {
	var b strings.Builder
	for _, f := range v.Faults {
		switch {
		case !f.Injected:
			fmt.Fprintf(&b, "  %s: not injected, %s\n", f.Fault, f.Reason)
		case f.TimedOut:
			fmt.Fprintf(&b, "  %s: hit %s at %d ms, and no work resumed\n", f.Fault, f.Target, f.At)
		default:
			fmt.Fprintf(&b, "  %s: hit %s at %d ms, recovered after %d ms\n", f.Fault, f.Target, f.At, f.Recovery)
		}
	}
	for _, wrong := range v.Wrong {
		fmt.Fprintf(&b, "  wrong: %s\n", wrong)
	}
	return b.String()
}
