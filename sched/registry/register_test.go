package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/hfsp"
)

// mine is a policy of another module.
type mine struct {
	fifo.Policy
	weight    int64
	estimator hfsp.Estimator
	order     preempt.Order
}

// guess is an estimator, and an order of victims, of another module.
type guess struct{ factor float64 }

func (g guess) Size(*cluster.Job, cluster.Slot, int, []float64) (float64, bool) {
	return g.factor, true
}

func (g guess) Compare(a, b preempt.Victim) int { return 0 }

func newMine(s *Settings, setup sched.Setup) sched.Policy {
	return &mine{weight: s.Integer("mine.weight", aboveZero, 1, 9), estimator: s.Estimator(setup), order: setup.Preempt.Order}
}

// withMine runs a test in which a policy, an estimator and an order are registered.
func withMine(t *testing.T) {
	Register("mine", Policy{New: newMine, Settings: []Setting{{Name: "mine.weight", Type: Integer, Range: "1 to 9", Doc: "a weight"}}, JobSizes: true})
	RegisterEstimator("guess", func(s *Settings, _ sched.Setup) hfsp.Estimator { return guess{s.Positive("guess.factor")} })
	RegisterVictims("any", guess{})
	t.Cleanup(func() {
		delete(policies.all, "mine")
		delete(estimators.all, "guess")
		delete(orders.all, "any")
		sealed = false
	})
}

func TestRegisteredPolicyIsAsBuiltIn(t *testing.T) {
	withMine(t)
	for _, name := range []string{"mine", "chronos+mine"} {
		if !slices.Contains(Names(), name) {
			t.Errorf("%s is not in %v", name, Names())
		}
	}
	conf := map[string]string{"mine.weight": "7", "hammr.hfsp.estimator": "guess", "guess.factor": "2", Victims: "any"}
	p, err := New("chronos+mine", conf, sched.Setup{})
	must.Do(t, err)
	got := sched.Innermost(p).(*mine)
	if got.weight != 7 || got.estimator != (guess{2}) || got.order != (guess{}) {
		t.Errorf("%+v", got)
	}
	if !UsesJobSizes("mine", nil) || HasPools("mine", nil) {
		t.Error("other properties than those that are registered")
	}
	values := make(map[string][]string)
	for _, s := range slices.Concat(SharedSettings(), SettingsOf("chronos"), SettingsOf("hfsp"), SettingsOf("mine")) {
		values[s.Name] = s.Values
	}
	for setting, want := range map[string]string{ChronosPolicy: "mine", estimatorSetting: "guess", Victims: "any"} {
		if !slices.Contains(values[setting], want) {
			t.Errorf("values of %s: %v, without %s", setting, values[setting], want)
		}
	}
	if _, described := values["mine.weight"]; !described {
		t.Error("the settings of the policy are not described")
	}
	_, err = New("mine", map[string]string{"mine.weight": "0", "mine.height": "1", Victims: "all"}, sched.Setup{})
	for _, want := range []string{Victims + `: "all": expected one of any, least-work`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err = New("mine", map[string]string{"mine.weight": "0", "mine.height": "1"}, sched.Setup{})
	for _, want := range []string{`mine.weight: "0": expected a whole number above 0`, "mine.height is unknown; choose one of mine.weight"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestWrongRegistrationsPanic(t *testing.T) {
	withMine(t)
	panics := func(want string, register func()) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("%s, want %q", got, want)
			}
		}()
		register()
	}
	const here = "github.com/hammr/hammr/sched/registry."
	panics(`policy "fifo" is registered twice: as github.com/hammr/hammr/sched/fifo.Policy and as `+here+"mine", func() { Register("fifo", Policy{New: newMine}) })
	panics(`estimator "mean" is registered twice: as github.com/hammr/hammr/sched/hfsp.Mean and as `+here+"guess", func() {
		RegisterEstimator("mean", func(*Settings, sched.Setup) hfsp.Estimator { return guess{} })
	})
	panics(`order of victims "least-work" is registered twice: as github.com/hammr/hammr/preempt.LeastWork and as `+here+"guess", func() { RegisterVictims("least-work", guess{}) })
	panics(`policy "chronos": the name is that of the policy that wraps others`, func() { Register("chronos", Policy{New: newMine}) })
	for _, name := range []string{"", "My", "a+b", "a:b", "-a", "a b", "a=b"} {
		panics(fmt.Sprintf("policy %q: expected a name of lower-case letters", name), func() { Register(name, Policy{New: newMine}) })
	}
	panics(`policy "other" is nil`, func() { Register("other", Policy{}) })
	Seal()
	panics(`policy "late" (`+here+`mine) is registered after the program has begun to use disco, fair, fifo, hammr, hfsp, mine`, func() { Register("late", Policy{New: newMine}) })
}
