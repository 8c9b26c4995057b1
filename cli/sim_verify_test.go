package cli

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/registry"
)

// doubling is a policy of another module: fifo, which plans each start twice if its setting says so.
type doubling struct {
	fifo.Policy
	doubles bool
}

func init() {
	registry.Register("doubling", registry.Policy{
		New: func(s *registry.Settings, _ sched.Setup) sched.Policy {
			return &doubling{doubles: s.Bool("doubling.on")}
		},
		Settings: []registry.Setting{{Name: "doubling.on", Type: registry.Bool, Range: "true or false", Doc: "whether to"}},
	})
}

func (p *doubling) Decide(now int64, view sched.View) sched.Plan {
	plan := p.Policy.Decide(now, view)
	if p.doubles {
		plan.Starts = append(plan.Starts, plan.Starts...)
	}
	return plan
}

func TestSimVerify(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"doubling --runs 1", exitDone, []string{"pass  returns from each call: ", "pass  starves no job: ", "pass  reacts to every event: "}},
		{"chronos+doubling --runs 1 --seed 7 --conf doubling.on=true", exitFailed, []string{"FAIL  gives nothing twice: ", ", at 0.0", "pass  forgets jobs that are over: "}},
		{"doubling --runs 0", exitUsage, []string{"--seed and --runs: expected 1 or more"}},
		{"doubling --conf doubling.of=true", exitUsage, []string{"setting doubling.of is unknown; choose one of doubling.on"}},
		{"lottery", exitUsage, []string{`policy "lottery": not one of `, "doubling"}},
	} {
		code, stdout, stderr := call(strings.Fields("sim verify " + c.args)...)
		for _, want := range c.want {
			if !strings.Contains(stdout+stderr, want) {
				t.Errorf("%s: no %q in\n%s%s", c.args, want, stdout, stderr)
			}
		}
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s", c.args, code, c.code, stderr)
		}
	}
}

// TestRegisteredPolicyIsOfferedEverywhere asks commands for names of policies.
func TestRegisteredPolicyIsOfferedEverywhere(t *testing.T) {
	for _, line := range []string{"__complete scheduler set d", "__complete sim verify d", "__complete sim run --policy d", "__complete jobmaster --policy d", "__complete bench replay --policy d", "sim run --help"} {
		if code, stdout, stderr := call(strings.Fields(line)...); code != exitDone || !strings.Contains(stdout, "doubling") {
			t.Errorf("%s: exit code %d\n%s%s", line, code, stdout, stderr)
		}
	}
	simDir(t)
	code, stdout, stderr := call(strings.Fields("sim run --workload mix.spec --policy doubling,chronos+doubling --nodes 3 --conf doubling.on=false --out out")...)
	if code != exitDone || !strings.Contains(stdout, "chronos+doubling") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}
