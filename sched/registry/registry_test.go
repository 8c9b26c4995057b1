package registry

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/schedtest"
)

func TestEveryPolicyIsMadeWithoutSettings(t *testing.T) {
	for _, name := range Names() {
		if p, err := New(name, nil, sched.Setup{Placement: sched.DefaultPlacement()}); p == nil || err != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		if _, err := New(name, map[string]string{"no.such": "1"}, sched.Setup{}); err == nil || !strings.Contains(err.Error(), "no.such") {
			t.Errorf("%s with a setting that it does not know: %v", name, err)
		}
	}
	if _, err := New("lottery", nil, sched.Setup{}); err == nil || !strings.Contains(err.Error(), `"lottery": not one of `+strings.Join(Names(), ", ")) {
		t.Errorf("unknown policy: %v", err)
	}
}

func TestSettingsOfFair(t *testing.T) {
	good := map[string]string{
		AllocationFile: "fair-scheduler.xml", Allocations: `<allocations><pool name="a"><weight>2</weight></pool></allocations>`,
		"mapred.fairscheduler.preemption": "true", "mapred.fairscheduler.load.max.diff": "0.5",
	}
	if _, err := New("fair", good, sched.Setup{}); err != nil {
		t.Error(err)
	}
	_, err := New("fair", map[string]string{
		AllocationFile: "fair-scheduler.xml", Allocations: "<allocations>\n<pool name='a'><weight>-2</weight></pool></allocations>",
		"mapred.fairscheduler.preemption": "maybe", "mapred.fairscheduler.weightadjuster": "my.Adjuster", "mapred.newjobweightbooster.factor": "NaN", "weight": "2",
	}, sched.Setup{})
	for _, want := range []string{
		"fair-scheduler.xml:2", `mapred.fairscheduler.preemption: "maybe": expected true or false`,
		`mapred.newjobweightbooster.factor: "NaN": expected a number above 0`, `"my.Adjuster": expected org.apache.hadoop.mapred.NewJobWeightBooster`, "setting weight is unknown; choose one of",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestWeightAdjusterIsNewJobBoost compares the slots of a new and an old job in a pool.
func TestWeightAdjusterIsNewJobBoost(t *testing.T) {
	for setting, want := range map[[2]string][2]int{
		{}: {3, 3},
		{"mapred.fairscheduler.newjobboost", "true"}:           {1, 5},
		{"mapred.fairscheduler.weightadjuster", weightBooster}: {1, 5},
	} {
		w := schedtest.New(t)
		w.Join("m", 6, 0)
		old := w.Run(schedtest.Spec(dag.MapReduce(9, 0)))
		w.Now += 400_000
		young := w.Run(schedtest.Spec(dag.MapReduce(9, 0)))
		conf := map[string]string{"mapred.newjobweightbooster.factor": "5"}
		if setting[0] != "" {
			conf[setting[0]] = setting[1]
		}
		p, err := New("fair", conf, sched.Setup{Placement: sched.DefaultPlacement()})
		must.Do(t, err)
		var got [2]int
		for start := range w.Plan(p).AllStarts() {
			if start.Task.Job == old.ID {
				got[0]++
			} else if start.Task.Job == young.ID {
				got[1]++
			}
		}
		if got != want {
			t.Errorf("%v: the old and the new job get %v slots, want %v", setting, got, want)
		}
	}
}

func TestSettingsOfHFSP(t *testing.T) {
	oracle := func(*cluster.Job, cluster.Slot) (int64, bool) { return 1, true }
	good := map[string]string{
		"mapred.hfsp-scheduler.trainer.min-maps": "2", "mapred.hfsp-scheduler.train-map-slots": "0",
		"mapred.hfsp-scheduler.duration-modifier-map": "inf", "mapred.hfsp-scheduler.initial-reduce-duration": "30000",
		"mapred.hfsp-scheduler.sojourn-trainer.reduce.time": "never", "mapred.hfsp-scheduler.preemption-strategy": "eager",
		"hammr.hfsp.estimator": "oracle", "hammr.hfsp.size-error": "0.5", "hammr.hfsp.size-error-law": "uniform", "hammr.hfsp.seed": "7",
	}
	if _, err := New("hfsp", good, sched.Setup{Oracle: oracle}); err != nil {
		t.Error(err)
	}
	_, err := New("hfsp", map[string]string{
		"hammr.hfsp.estimator": "oracle", "hammr.hfsp.size-error": "NaN", "hammr.hfsp.size-error-law": "cauchy",
		"mapred.hfsp-scheduler.duration-modifier-map": "0.5", "mapred.hfsp-scheduler.trainer.min-maps": "0",
		"mapred.hfsp-scheduler.preemption-strategy": "NoPreemption", "mapred.hfsp-scheduler.train-reduce-slots": "-1",
	}, sched.Setup{})
	for _, want := range []string{
		`hammr.hfsp.estimator: "oracle": expected`, `hammr.hfsp.size-error: "NaN": expected a number from 0 to 10`, `"cauchy": expected lognormal or uniform`,
		`"0.5": expected a number of 1 or more, or inf`, `trainer.min-maps: "0": expected`, `"NoPreemption": expected eager, wait or kill`, `"-1": expected a whole number`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestRankersOnlyForPoolsThatUseThem(t *testing.T) {
	for text, want := range map[string]int{
		"<allocations/>": 0,
		"<allocations><pool name='a'><schedulingMode>hfsp</schedulingMode></pool></allocations>": 1,
	} {
		a, err := pool.Parse("file", []byte(text))
		if got := rankers(a); err != nil || len(got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
