package chaos_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// unplaced returns a plan without its file name and line numbers, which only a plan from a
// file has.
func unplaced(p *chaos.Plan) *chaos.Plan {
	p = p.With(p.Faults)
	p.File = ""
	p.Jobs = append([]chaos.Job(nil), p.Jobs...)
	for i := range p.Jobs {
		p.Jobs[i].Line = 0
	}
	for i := range p.Faults {
		p.Faults[i].Line = 0
	}
	return p
}

// TestRandomPlansRoundTrip checks for many seeds that the plan is valid, that it is the same
// each time, and that parsing its text gives the same plan.
func TestRandomPlansRoundTrip(t *testing.T) {
	different := make(map[string]bool)
	for seed := range testlevel.Seeds(100, 1500) {
		kinds := chaos.Kinds()
		if seed%2 == 0 {
			kinds = nil
		}
		p := chaos.Random(seed, kinds)
		if err := p.Check(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Format())
		}
		if again := chaos.Random(seed, kinds); !reflect.DeepEqual(p, again) {
			t.Fatalf("seed %d has another plan the second time:\n%s\n%s", seed, p.Format(), again.Format())
		}
		read, err := chaos.Parse("p", p.Format())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Format())
		}
		if !reflect.DeepEqual(p, unplaced(read)) {
			t.Fatalf("seed %d:\n%s\nis read as\n%s", seed, p.Format(), read.Format())
		}
		different[string(p.Format())] = true
	}
	if seeds := testlevel.Choose(100, 1500); len(different) < seeds*98/100 {
		t.Errorf("%d seeds have only %d plans", seeds, len(different))
	}
}

// TestRandomPlansLeaveAMajority checks that no random plan ends a cluster for good.
func TestRandomPlansLeaveAMajority(t *testing.T) {
	for seed := range testlevel.Seeds(100, 1500) {
		for _, f := range chaos.Random(seed, chaos.Kinds()).Faults {
			if f.Kind == chaos.Failpoint && strings.Contains(f.Point, "commit-") && strings.HasPrefix(f.Point, "jobmaster/") && strings.HasPrefix(f.Action, "error") {
				t.Errorf("seed %d: %v fails a commit, and its job with it", seed, f)
			}
			lasts := f.Kind != chaos.Restart && f.Kind != chaos.Clock
			if f.Target.Role == chaos.Jobmaster && lasts && f.For == 0 {
				t.Errorf("seed %d: %v never ends", seed, f)
			}
			if f.Target.Number() == 4 || f.Target.Name == chaos.Any && f.Target.Role != chaos.Task {
				t.Errorf("seed %d: %v may hit the tasknode that is to stay in order", seed, f)
			}
		}
	}
}

const head = "hammr-plan 1\njob j wordcount\n"

func TestInvalidPlans(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `p:1: "": a plan begins with "hammr-plan 1"`,
		"hammr-plan 2\n":            `p:1: "hammr-plan 2": a plan begins`,
		"hammr-plan 1\n":            "p: no job; a line such as 'job j1 wordcount' is missing",
		head + "color red":          `p:3: "color": expected seed, masters`,
		head + "seed -1":            `p:3: seed "-1": expected a whole number`,
		head + "masters 2":          "p:3: 2 masters; a cluster has 1, 3 or 5",
		head + "masters 3 4":        `p:3: expected "masters NUMBER"`,
		head + "tasknodes 0":        `p:3: "0": expected a number from 1`,
		head + "limit 0s":           "p:3: limit 0s",
		head + "tasknodes 101":      "p:3: 101 tasknodes; expected 1 to 100",
		head + "hdfs\nseed 1\nhdfs": "p:5: hdfs is in line 3 already",
		head + "limit 9s\nfault at 10s do kill tasknode 1": "p:4: at 10s: no fault is injected later than limit 9s",
		head + "job j sort":                                                       "p:3: job j is there twice",
		head + "job a/b wordcount":                                                `p:3: job "a/b": a name has letters`,
		head + "job k wordcounter":                                                `p:3: job k: no program "wordcounter"`,
		head + "fault":                                                            "p:3: expected 'at TIME' or 'when JOB",
		head + "fault at 1s":                                                      "p:3: expected 'do KIND TARGET'",
		head + "fault at soon do kill tasknode 1":                                 `p:3: time: invalid duration "soon"`,
		head + "fault at -1s do kill tasknode 1":                                  "p:3: at -1s: expected 0s to",
		head + "fault when k map 5% do kill tasknode 1":                           "p:3: when k: the plan has no such job",
		head + "fault when j map 5 do kill tasknode 1":                            `p:3: map "5": expected a whole number of percent`,
		head + "fault when j map 105% do kill tasknode 1":                         "p:3: map 105%: expected 0% to 100%",
		head + "fault when j sort 1 do kill tasknode 1":                           `p:3: "sort": expected map, reduce, spill or commit`,
		head + "fault when j spill x do kill tasknode 1":                          `p:3: spill "x": expected a number`,
		head + "fault at 0s do tickle tasknode 1":                                 `p:3: unknown kind of fault "tickle": expected one of kill, restart`,
		head + "fault at 0s do corrupt jobmaster leader":                          `p:3: corrupt of a "jobmaster": its targets are tasknode`,
		head + "fault at 0s do kill tasknode":                                     `p:3: tasknode "": expected its number from 1, or any`,
		head + "fault at 0s do kill tasknode 5":                                   "p:3: tasknode 5: there are 4",
		head + "fault at 0s do kill tasknode 01":                                  `p:3: tasknode "01": expected its number`,
		head + "fault at 0s do kill jobmaster m4":                                 "p:3: jobmaster m4: there are 3",
		head + "fault at 0s do kill jobmaster king":                               `p:3: jobmaster "king": expected leader, follower, all`,
		head + "fault at 0s do kill task n1":                                      `p:3: task "n1": expected map, reduce or any`,
		head + "fault at 0s do kill namenode":                                     "p:3: namenode: the plan has no HDFS",
		head + "hdfs\nfault at 0s do kill namenode 1":                             `p:4: namenode "1": there is only one`,
		head + "fault at 0s do restart tasknode 1 for 1s":                         "p:3: restart for 1s: this kind has no duration",
		head + "fault at 0s do kill tasknode 1 for -1s":                           "p:3: for -1s: expected more than 0s",
		head + "fault at 0s do kill tasknode 1 by 1s":                             "p:3: kill by 1s: it has no amount",
		head + "fault at 0s do kill tasknode 1 until 1s":                          `p:3: "until 1s": expected 'by AMOUNT' or 'for TIME'`,
		head + "fault at 0s do slow-disk tasknode 1 for 1s":                       "p:3: slow-disk by 0s: expected how much longer",
		head + "fault at 0s do clock tasknode 1":                                  "p:3: clock: 'by TIME' is missing",
		head + "fault at 0s do preempt task map by magic":                         `p:3: preempt by "magic": expected one of split, checkpoint`,
		head + "masters 1\nfault at 0s do kill jobmaster follower":                "p:4: jobmaster follower: there is one master only",
		head + "fault at 0s do failpoint tasknode 1 by error":                     "p:3: failpoint: 'at POINT' is missing; a tasknode has task/spill, task/checkpoint-write, task/segment-commit, task/done, tasknode/launch, tasknode/heartbeat",
		head + "fault at 0s do failpoint jobmaster all at x by y":                 `p:3: no failpoint "x"; there are task/spill, task/checkpoint-write`,
		head + "fault at 0s do failpoint jobmaster leader at task/spill by crash": "p:3: failpoint at task/spill: a jobmaster never hits it; it has jobmaster/log-append, jobmaster/snapshot, jobmaster/commit-begin",
		head + "fault at 0s do failpoint machine 1 at task/spill by crash":        `p:3: failpoint of a "machine": its targets are tasknode, jobmaster`,
		head + "fault at 0s do failpoint tasknode 1 at task/spill":                "p:3: failpoint at task/spill: 'by ACTION' is missing",
		head + "fault at 0s do failpoint tasknode 1 at task/spill by fire":        `p:3: action "fire": expected error, crash or delay=TIME`,
		head + "fault at 0s do failpoint tasknode 1 at a at b by error":           `p:3: "at b": expected`,
		head + "fault at 0s do kill tasknode 1 at task/spill":                     `p:3: "at task/spill": expected 'by AMOUNT'`,
		head + "fault at 0s do one-way tasknode 1 by left":                        `p:3: one-way by "left": expected in for a target that receives nothing`,
		head + "fault at 0s do loss tasknode 1 by 100%":                           "p:3: loss by 100%: expected 1% to 99%",
		head + "fault at 0s do loss tasknode 1 by 20":                             "p:3: by 20: expected a whole number and its unit, such as 20%",
		head + "fault at 0s do bandwidth machine 1 by 8":                          "p:3: by 8: expected a whole number and its unit, such as 20mbit",
		head + "fault at 0s do bandwidth machine 1":                               "p:3: bandwidth by 0mbit: expected 1mbit to 100000mbit",
		head + "fault at 0s do delay machine 1 by 2m":                             "p:3: delay by 2m0s: expected more than 0s, up to 1m0s",
		head + "fault at 0s do loss datanode 1 by 2%":                             `p:3: loss of a "datanode": its targets are tasknode, jobmaster, machine`,
		head + "job k /bin/x {in}":                                                "p:3: job k: {out} is missing among the arguments of /bin/x",
		head + "job k wordcount {in} {out}":                                       "p:3: job k: wordcount has no arguments in plans",
	} {
		_, err := chaos.Parse("p", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// TestInvalidFaultsOfPrograms checks that invalid faults built in Go are reported too.
func TestInvalidFaultsOfPrograms(t *testing.T) {
	p := chaos.NewPlan()
	p.Jobs = []chaos.Job{{Name: "j", Program: "wordcount"}}
	node := chaos.Target{Role: chaos.Tasknode, Name: "1"}
	when := chaos.Trigger{Event: chaos.AtTime}
	for want, f := range map[string]chaos.Fault{
		"kill at task/spill: only a failpoint has a point": {Kind: chaos.Kill, Target: node, Trigger: when, Point: "task/spill"},
		"kill by 5: it has no amount":                      {Kind: chaos.Kill, Target: node, Trigger: when, Amount: 5},
		"only one-way has a direction":                     {Kind: chaos.Kill, Target: node, Trigger: when, Direction: chaos.In},
		"failpoint by 1s: it has no amount":                {Kind: chaos.Failpoint, Target: node, Trigger: when, Point: "task/spill", Action: "error", By: 1e9},
	} {
		if err := p.With([]chaos.Fault{f}).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestAllErrorsAreReported checks that parsing continues after the first error.
func TestAllErrorsAreReported(t *testing.T) {
	_, err := chaos.Parse("p", []byte("hammr-plan 1\nsee 1\n# nothing\njob j\n"))
	if err == nil || !strings.Contains(err.Error(), "p:2: ") || !strings.Contains(err.Error(), "p:4: ") {
		t.Errorf("got %v", err)
	}
}

// TestValidLinesAreCheckedBesideInvalidOnes checks that syntax errors and invalid values are
// reported together, in order of lines, without consequential errors.
func TestValidLinesAreCheckedBesideInvalidOnes(t *testing.T) {
	_, err := chaos.Parse("p", []byte("hammr-plan 1\nmasters x\nfault when j map 101% do kill tasknode 1\nseed\nfault at 1s do kill tasknode 5\nfault when j map 1% do kill tasknode 1\njob j\n"))
	want := []string{
		`p:2: "x": expected a number from 1 to 1000`, `p:3: map 101%: expected 0% to 100%`, `p:4: expected "seed NUMBER"`,
		"p:5: tasknode 5: there are 4", `p:7: expected "job NAME PROGRAM"`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got %v", err)
	}
}

// TestOwnProgramsAreKept checks that a job's arguments are written and read again.
func TestOwnProgramsAreKept(t *testing.T) {
	const line = "job k /bin/x -D a=b {in} {out}"
	p, err := chaos.Parse("p", []byte(head+line))
	if err != nil || !p.Jobs[1].Own() || !strings.Contains(string(p.Format()), line+"\n") {
		t.Errorf("%v: %s", err, p.Format())
	}
}

// TestFaultsOfALinkAddUp checks what two faults of a link do at once.
func TestFaultsOfALinkAddUp(t *testing.T) {
	a := chaos.Link{NoSend: true, Loss: 50, Delay: 2, Mbits: 8}
	b := chaos.Link{Loss: 50, Delay: 3, Mbits: 5}
	if got, want := a.And(b), (chaos.Link{NoSend: true, Loss: 75, Delay: 5, Mbits: 5}); got != want || b.And(a) != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := a.And(chaos.Link{}); got != a || (chaos.Link{}).And(a) != a {
		t.Errorf("%+v, want %+v", got, a)
	}
}

// FuzzParse checks that a plan which has been parsed is written as the same plan.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte(head + "job k /x {out}\nfault at 0s do loss machine any by 9%"))
	f.Add([]byte(head + "fault at 0s do failpoint tasknode any at task/spill by delay=20ms@3 for 1s"))
	for seed := range uint64(20) {
		f.Add(chaos.Random(seed, chaos.Kinds()).Format())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := chaos.Parse("p", text)
		if err != nil {
			return
		}
		again, err := chaos.Parse("p", p.Format())
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Format())
		}
		if !bytes.Equal(p.Format(), again.Format()) {
			t.Fatalf("%s\nbecame\n%s", p.Format(), again.Format())
		}
	})
}
