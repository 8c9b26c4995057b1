package registry

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/chronos"
)

// ChronosPolicy is the setting that names the policy inside chronos; default fifo.
// The name "chronos+fair" says it too. What else is set and is not chronos' own is
// for the policy inside.
const ChronosPolicy = "hammr.chronos.policy"

const (
	chronosName   = "chronos"
	chronosPrefix = chronosName + "+"
)

// chronosInner is the policy inside, if a name is one of chronos; "" is the one
// that its settings say.
func chronosInner(name string) (inside string, ok bool) {
	if name == chronosName {
		return "", true
	}
	return strings.CutPrefix(name, chronosPrefix)
}

// innermost is the name of the policy that gives out slots: the one inside chronos,
// or that of a name itself.
func innermost(name string, conf map[string]string) string {
	inside, ok := chronosInner(name)
	switch {
	case !ok:
		return name
	case inside == "":
		return innerName(conf[ChronosPolicy])
	}
	return inside
}

// innerName is the policy inside for a value of ChronosPolicy.
func innerName(value string) string { return cmp.Or(value, "fifo") }

// newChronos wraps the policy of a name; "" is the one that the settings say.
func newChronos(inside string, conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	own, rest := make(map[string]string), make(map[string]string)
	for name, value := range conf {
		if strings.HasPrefix(name, "hammr.chronos.") {
			own[name] = value
		} else {
			rest[name] = value
		}
	}
	s := settings{policy: chronosName, conf: own}
	c := chronos.Config{
		Preempt: setup.Preempt, Racks: setup.Placement.Racks,
		Wait:    int64(s.positive("hammr.chronos.wait")),
		Reserve: int64(s.positive("hammr.chronos.reserve")),
		SameJob: s.bool("hammr.chronos.same-job"),
	}
	if inside == "" {
		inside = innerName(s.text(ChronosPolicy))
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	maker, known := makers[inside]
	if !known {
		return nil, fmt.Errorf("policy %s: there is no policy %q to go inside", chronosName, inside)
	}
	inner, err := maker(rest, setup)
	if err != nil {
		return nil, err
	}
	c.Inner = inner
	return chronos.New(c), nil
}
