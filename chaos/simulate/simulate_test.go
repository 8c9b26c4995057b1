package simulate_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/simulate"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sim"
)

func parse(t *testing.T, lines ...string) *chaos.Plan {
	t.Helper()
	p, err := chaos.Parse("p", []byte("hammr-plan 1\njob j1 wordcount\n"+strings.Join(lines, "\n")))
	must.Do(t, err)
	return p
}

func player(t *testing.T, p *chaos.Plan) *simulate.Report {
	t.Helper()
	r, err := simulate.Run(t.Context(), p)
	must.Do(t, err)
	return r
}

// undisturbed returns the time of a job without faults, in ms.
func undisturbed(t *testing.T) int64 {
	t.Helper()
	r := player(t, parse(t))
	if !r.Good || r.ExtraAttempts != 0 || r.WorkLost != 0 || r.Bytes == 0 {
		t.Fatalf("%+v", r.Verdict)
	}
	return r.Elapsed
}

// outcome is the expected result of a fault.
type outcome struct {
	lost  int // lost machines
	again int // attempts made again, at least
	leads int // masters that led
	late  int // ms by which the job takes longer, at least
	most  int // attempts made again, at most
}

// TestEachKind plays each kind of fault by itself. The job succeeds at any rate.
func TestEachKind(t *testing.T) {
	const many = 100
	alone := undisturbed(t)
	for fault, want := range map[string]outcome{
		"at 500ms do kill tasknode 2":                        {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do kill machine any for 300ms":             {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do restart machine 2":                      {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do stop machine 2 for 2s":                  {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do stop machine 2 for 900ms":               {leads: 1, late: 600},
		"at 500ms do stop tasknode 2 for 900ms":              {leads: 1},
		"at 500ms do partition tasknode 2 for 900ms":         {leads: 1},
		"at 500ms do partition tasknode 2 for 3s":            {lost: 1, again: 1, leads: 1, most: many},
		"at 500ms do kill task map":                          {again: 1, leads: 1, most: 1},
		"at 2500ms do kill task reduce":                      {again: 1, leads: 1, late: 500, most: 1},
		"at 500ms do stop task map for 3s":                   {leads: 1, late: 2000},
		"at 500ms do stop task map":                          {again: 1, leads: 1, late: 4500, most: 1},
		"at 500ms do preempt task map by kill":               {again: 1, leads: 1, most: 1},
		"at 500ms do preempt task map by checkpoint":         {again: 1, leads: 1, most: 1},
		"at 500ms do preempt task map by split":              {leads: 1},
		"at 500ms do preempt task map by suspend":            {leads: 1},
		"at 1s do corrupt tasknode 1":                        {again: 2, leads: 1, most: many},
		"at 500ms do full-disk tasknode 1 for 500ms":         {again: 1, leads: 1, most: many},
		"at 0s do io-error tasknode 1 for 2s":                {again: 1, leads: 1, most: many},
		"at 0s do slow-disk tasknode 1 by 50ms":              {leads: 1, late: 250},
		"at 500ms do clock tasknode 1 by 1h":                 {leads: 1},
		"at 500ms do one-way tasknode 2 by in for 3s":        {lost: 1, again: 1, leads: 1, most: many},
		"at 500ms do one-way jobmaster leader by out for 3s": {leads: 2},
		"at 0s do loss tasknode 1 by 50%":                    {leads: 1, late: 150},
		"at 0s do delay machine 1 by 400ms":                  {leads: 1, late: 300},
		"at 0s do delay jobmaster leader by 100ms":           {leads: 1, late: 200},
		"at 0s do bandwidth machine 1 by 1mbit":              {leads: 1},
		"at 0s do bandwidth jobmaster leader by 1mbit":       {leads: 1},
		"at 500ms do power-loss tasknode 2":                  {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do power-loss jobmaster leader for 1s":     {leads: 2},
		"at 500ms do kill jobmaster leader":                  {leads: 2},
		"at 500ms do restart jobmaster m1":                   {leads: 2},
		"at 500ms do stop jobmaster leader for 3s":           {leads: 2},
		"at 500ms do partition jobmaster leader for 3s":      {leads: 2},
		"at 500ms do kill jobmaster follower":                {leads: 1},
		"at 500ms do kill jobmaster all for 4s":              {leads: 2, late: 2500},
		"at 500ms do io-error jobmaster leader for 1s":       {leads: 2},
		"at 0s do slow-disk jobmaster leader by 100ms":       {leads: 1, late: 200},
		"at 500ms do clock jobmaster leader by -1h":          {leads: 1},
		"when j1 commit 0 do kill jobmaster leader":          {leads: 2, late: 1000},
		"when j1 commit 2 do kill jobmaster leader":          {leads: 2, late: 1200},
		"when j1 spill 8 do kill task map":                   {again: 1, leads: 1, most: 1},
		"when j1 map 50% do kill task map":                   {again: 1, leads: 1, most: 1},
		"when j1 reduce 50% do preempt task reduce by kill":  {again: 1, leads: 1, late: 400, most: 1},

		"at 0s do failpoint tasknode 1 at task/spill by error@2":                           {again: 1, leads: 1, most: 1},
		"at 0s do failpoint tasknode 1 at task/segment-commit by crash@1":                  {again: 1, leads: 1, most: 1},
		"at 0s do failpoint tasknode 1 at task/done by delay=2s@1":                         {leads: 1},
		"at 0s do failpoint tasknode 1 at tasknode/launch by error@1":                      {again: 1, leads: 1, most: 1},
		"at 0s do failpoint tasknode 1 at tasknode/launch by crash@2 for 2s":               {lost: 1, again: 2, leads: 1, most: many},
		"at 0s do failpoint tasknode 1 at tasknode/heartbeat by crash@2":                   {lost: 1, again: 2, leads: 1, most: many},
		"at 0s do failpoint tasknode 1 at tasknode/heartbeat by error@2":                   {leads: 1},
		"at 0s do failpoint tasknode 1 at tasknode/heartbeat by error":                     {lost: 1, again: 2, leads: 1, most: many},
		"at 500ms do failpoint jobmaster leader at jobmaster/log-append by crash@2 for 1s": {leads: 2},
		"at 500ms do failpoint jobmaster m1 at jobmaster/log-append by error@1":            {leads: 2},
		"at 500ms do failpoint jobmaster all at jobmaster/log-append by delay=200ms":       {leads: 1, late: 200},
		"at 500ms do failpoint jobmaster leader at jobmaster/snapshot by crash@1":          {leads: 2},
		"at 500ms do failpoint jobmaster leader at jobmaster/snapshot by error@2":          {leads: 1},
		"at 500ms do failpoint jobmaster all at jobmaster/snapshot by delay=1s":            {leads: 1},
		"at 0s do failpoint jobmaster leader at jobmaster/commit-begin by crash@1":         {leads: 2, late: 1000},
		"at 0s do failpoint jobmaster leader at jobmaster/commit-file by crash@3":          {leads: 2, late: 1200},
		"at 0s do failpoint jobmaster leader at jobmaster/commit-end by delay=1s":          {leads: 1, late: 1000},
	} {
		r := player(t, parse(t, "fault "+fault))
		v := r.Verdict
		if !v.Good || v.Injected() != 1 || v.Faults[0].Recovery < 1 || v.Faults[0].TimedOut || v.Bytes == 0 {
			t.Errorf("%s: %+v", fault, v)
		}
		late := int(v.Elapsed - alone)
		if len(r.Result.Lost) != want.lost || len(r.Result.Elections) != want.leads || late < want.late || v.ExtraAttempts < want.again || v.ExtraAttempts > want.most {
			t.Errorf("%s: %d machines lost, %d leads, %d attempts again, %d ms late; want %+v",
				fault, len(r.Result.Lost), len(r.Result.Elections), v.ExtraAttempts, late, want)
		}
	}
}

// TestPreemptionModesLoseWork distinguishes the preemption modes by the work they keep.
func TestPreemptionModesLoseWork(t *testing.T) {
	for mode, lost := range map[string]bool{"kill": true, "split": false, "checkpoint": false, "suspend": false} {
		r := player(t, parse(t, "fault at 500ms do preempt task map by "+mode))
		if (r.WorkLost > 0) != lost || !r.Good {
			t.Errorf("%s: %+v", mode, r.Verdict)
		}
	}
	r := player(t, parse(t,
		"fault at 200ms do failpoint tasknode any at task/checkpoint-write by error@1",
		"fault at 300ms do preempt task map by checkpoint", "tasknodes 1"))
	if !r.Good || r.Injected() != 2 || r.ExtraAttempts != 0 {
		t.Errorf("a checkpoint that cannot be written: %+v", r.Verdict)
	}
}

// TestReachedPaths checks that a verdict names the paths of recovery.
func TestReachedPaths(t *testing.T) {
	r := player(t, parse(t, "fault at 200ms do preempt task map by checkpoint", "fault at 500ms do kill machine 2 for 3s", "fault at 900ms do kill jobmaster leader for 2s"))
	for _, p := range []chaos.Path{chaos.LostAttempt, chaos.ResumedWork, chaos.Election} {
		if r.Reached[p] == 0 {
			t.Errorf("%s is not reached: %v", p, r.Reached)
		}
	}
	if r := player(t, parse(t)); len(r.Reached) > 0 {
		t.Errorf("without faults: %v", r.Reached)
	}
}

// TestBadVerdicts plays plans that no job survives.
func TestBadVerdicts(t *testing.T) {
	for plan, want := range map[string]string{
		"fault at 500ms do kill jobmaster all":                                        "nothing more happens, 1 jobs have not finished",
		"masters 1\nfault at 500ms do stop jobmaster m1":                              "job j1 is RUNNING",
		"fault at 0s do kill jobmaster m2\nfault at 0s do kill jobmaster m3":          "nothing more happens",
		"tasknodes 1\nfault at 500ms do kill machine 1":                               "nothing more happens",
		"fault at 0s do failpoint jobmaster leader at jobmaster/commit-file by error": "job j1 is FAILED",
		"tasknodes 1\nfault at 0s do full-disk tasknode 1":                            "job j1 is FAILED",
		"hdfs\nfault at 0s do kill namenode\nfault at 0s do stop datanode 1":          "nothing of the plan is modelled",
	} {
		r := player(t, parse(t, plan))
		if r.Good || !strings.Contains(strings.Join(r.Wrong, "\n"), want) || r.Bytes > 0 != (r.Lost == 0) {
			t.Errorf("%s: %+v, want %q", plan, r.Verdict, want)
		}
	}
}

// TestPlansThatHitNothing checks that a plan without a hit is good if its jobs succeed.
func TestPlansThatHitNothing(t *testing.T) {
	for _, fault := range []string{
		"fault at 0s do failpoint tasknode 1 at task/checkpoint-write by error",
		"fault when j1 reduce 0% do preempt task reduce by split",
		"fault at 0s do failpoint jobmaster follower at jobmaster/commit-begin by delay=1s",
	} {
		if r := player(t, parse(t, fault)); !r.Good || r.Injected() != 0 || r.Faults[0].Reason == "" {
			t.Errorf("%s: %+v", fault, r.Verdict)
		}
	}
}

// TestReasonsOfMissedFaults expects the verdict to say why a fault was not injected.
func TestReasonsOfMissedFaults(t *testing.T) {
	r := player(t, parse(t, "hdfs", "limit 10s", "fault at 0s do clock tasknode 1 by 1s",
		"fault at 0s do kill datanode 1",
		"fault at 0s do failpoint jobmaster leader at jobmaster/snapshot by delay=1s@999",
		"fault at 9s do kill machine 1",
		"fault at 0s do failpoint tasknode 1 at task/checkpoint-write by error",
		"fault when j1 commit 3 do kill task any",
	))
	for i, want := range []string{
		"", "not modelled: there is no HDFS", "it was hit", "its trigger never fired", "it was hit 0 times", "the cluster has no such target now",
	} {
		if f := r.Faults[i]; f.Injected != (i == 0) || !strings.HasPrefix(f.Reason, want) {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// TestOverlappingFaults plays overlapping faults of one daemon.
func TestOverlappingFaults(t *testing.T) {
	r := player(t, parse(t,
		"fault at 300ms do stop tasknode 1 for 900ms", "fault at 600ms do partition tasknode 1 for 500ms",
		"fault at 700ms do kill tasknode 1 for 400ms", "fault at 900ms do kill tasknode 1 for 400ms",
		"fault at 300ms do stop jobmaster m1 for 2s", "fault at 600ms do stop jobmaster m2 for 2s", "fault at 900ms do kill jobmaster all for 900ms",
		"fault at 300ms do stop machine 2 for 900ms", "fault at 500ms do stop task any for 900ms", "fault at 600ms do stop task any for 900ms",
	))
	if !r.Good || r.Injected() < 9 {
		t.Errorf("%v", r.Verdict)
	}
}

// TestRestartWhileTheLogIsSlow restarts a tasknode while the leader still writes commands
// for its earlier instance to the log.
func TestRestartWhileTheLogIsSlow(t *testing.T) {
	p := parse(t, "masters 1", "tasknodes 3", "job k1 wordcount",
		"fault when j1 spill 1 do restart tasknode 2", "fault at 450ms do failpoint jobmaster leader at jobmaster/log-append by delay=210ms for 2.74s")
	p.Seed = 58197
	if r := player(t, p); !r.Good || r.Injected() != 2 {
		t.Errorf("%v", r.Verdict)
	}
}

// TestRandomPlansEndWell plays the plans of many seeds, of all kinds: alone, and two
// or three at once.
func TestRandomPlansEndWell(t *testing.T) {
	injected := make(map[chaos.Kind]int)
	for seed := range testlevel.Seeds(100, 1200) {
		plan := chaos.Random(seed, chaos.Kinds())
		for other := range seed % 3 {
			for _, f := range chaos.Random(1000*(other+1)+seed, chaos.Kinds()).Faults {
				if f.Trigger.Job != "j2" {
					plan.Faults = append(plan.Faults, f)
				}
			}
		}
		r := player(t, plan)
		nothing := r.Injected() == 0 && len(r.Wrong) == 1
		if !r.Good && !nothing {
			t.Errorf("seed %d:\n%s\n%v", seed, plan.Format(), r.Verdict)
		}
		for i, f := range r.Faults {
			if f.Injected {
				injected[plan.Faults[i].Kind]++
			}
			if f.TimedOut {
				t.Errorf("seed %d: %+v", seed, f)
			}
		}
		if seed%10 == 0 && !reflect.DeepEqual(r, player(t, plan)) {
			t.Errorf("seed %d: two runs differ", seed)
		}
	}
	for _, k := range chaos.Kinds() {
		if injected[k] < testlevel.Choose(4, 60) {
			t.Errorf("%s was injected %d times", k, injected[k])
		}
	}
}

// TestShrink checks that shrinking finds the fault that makes a plan fail.
func TestShrink(t *testing.T) {
	plan := parse(t, "fault at 300ms do kill task map", "fault at 400ms do restart tasknode 2", "fault at 500ms do kill jobmaster all", "fault at 600ms do clock tasknode 1 by 1s")
	small := chaos.Shrink(plan, 20, func(p *chaos.Plan) bool { return !player(t, p).Good })
	if len(small.Faults) != 1 || small.Faults[0].Target.Name != chaos.All {
		t.Errorf("%s", small.Format())
	}
}

// TestBadMachineIsAvoided makes every attempt on one machine fail, and checks that the job
// stops using it after three failures.
func TestBadMachineIsAvoided(t *testing.T) {
	r := player(t, parse(t, "fault at 0s do full-disk tasknode 1"))
	there := 0
	for _, a := range r.Result.Tasks {
		if a.Machine == 0 {
			there++
		}
	}
	if !r.Good || there < 3 || there > 5 || r.ExtraAttempts != there {
		t.Errorf("%d attempts there, %+v", there, r.Verdict)
	}
}

// TestLosses checks the report of what a machine failure has lost.
func TestLosses(t *testing.T) {
	r := player(t, parse(t, "fault at 500ms do kill machine 2"))
	want := sim.LostMachine{Machine: 1, At: 500, ExpiredAt: 1500, Back: -1, Running: 3}
	if got := r.Result.Lost[0]; got.Machine != want.Machine || got.At != want.At || got.ExpiredAt != want.ExpiredAt || got.Back != want.Back || got.Running != want.Running {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestInvalidPlan(t *testing.T) {
	if _, err := simulate.Run(t.Context(), chaos.NewPlan()); err == nil || !strings.Contains(err.Error(), "no job") {
		t.Errorf("got %v", err)
	}
}
