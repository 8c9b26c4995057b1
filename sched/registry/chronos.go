package registry

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/chronos"
)

// ChronosPolicy is the setting that names the policy that chronos wraps; default fifo. The
// name "chronos+fair" has the same effect. All settings except the settings of chronos
// itself apply to the wrapped policy.
const ChronosPolicy = "hammr.chronos.policy"

// ChronosVictims is the setting that says which attempts of a job chronos preempts first:
// "least", those that have done least, or "priority", in the order of their tasks, as
// Algorithm 1 of the paper compares nothing but the priorities of jobs.
const ChronosVictims = "hammr.chronos.victims"

const (
	chronosName   = "chronos"
	chronosPrefix = chronosName + "+"
)

// chronosInner returns the name of the policy that chronos wraps, if a name is "chronos" or
// begins with "chronos+". "" means the policy that the settings name. The policy may be
// unknown.
func chronosInner(name string) (inner string, ok bool) {
	if name == chronosName {
		return "", true
	}
	return strings.CutPrefix(name, chronosPrefix)
}

// innermost returns the name of the policy that allocates the slots: the policy that chronos
// wraps, or else the name itself. The name may be unknown.
func innermost(name string, conf map[string]string) string {
	inner, ok := chronosInner(name)
	switch {
	case !ok:
		return name
	case inner == "":
		return innerName(conf[ChronosPolicy])
	}
	return inner
}

// innerName returns the wrapped policy for a value of ChronosPolicy. Without one it is
// fifo, which the paper uses first (Chronos, section 6.1).
func innerName(value string) string { return cmp.Or(value, "fifo") }

// newChronos wraps the policy of the given name; "" means the policy that the settings name.
// Settings below hammr.chronos are for chronos. All others are for the wrapped policy, which
// refuses unknown settings.
func newChronos(inner string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	own, rest := make(map[string]string), make(map[string]string)
	for name, value := range conf {
		if strings.HasPrefix(name, "hammr.chronos.") {
			own[name] = value
		} else {
			rest[name] = value
		}
	}
	s := Settings{policy: chronosName, conf: own}
	c := chronos.Config{
		Preempt: setup.Preempt, Racks: setup.Placement.Racks,
		Wait:    int64(s.Positive("hammr.chronos.wait")),
		Reserve: int64(s.Positive("hammr.chronos.reserve")),
		SameJob: s.Bool("hammr.chronos.same-job"),
		PriorityOnly: Parsed(&s, ChronosVictims, "least or priority", func(text string) (bool, error) {
			if text != "least" && text != "priority" {
				return false, errors.New("unknown")
			}
			return text == "priority", nil
		}),
	}
	if inner == "" {
		inner = innerName(s.Text(ChronosPolicy))
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	if policies.all[inner].New == nil {
		return nil, fmt.Errorf("policy %s: no policy %q that it could wrap", chronosName, inner)
	}
	wrapped, err := configure(inner, rest, setup)
	if err != nil {
		return nil, err
	}
	c.Inner = wrapped
	return chronos.New(c), nil
}
