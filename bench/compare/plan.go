package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// Options say what is compared.
type Options struct {
	Dir   string // of the traces: hfsp_fb2009.csv, hfsp_fb2010.csv, swim/
	Only  string // name of the one workload to play; "" is all
	Arms  string // pattern for path.Match of the arms to play, beside the reference; "" is all
	Seed  uint64 // 0 is 1
	Short bool   // a tenth of the first workload's tasks, on a tenth of the machines
}

// arms returns the arms to compare, the reference always among them.
func (o Options) arms() (chosen []Arm, err error) {
	matched := false
	for _, a := range Arms() {
		ok, err := path.Match(cmp.Or(o.Arms, "*"), a.Name)
		if err != nil {
			return nil, fmt.Errorf("compare: pattern %q: %w", o.Arms, err)
		}
		if ok || a.Name == reference {
			chosen = append(chosen, a)
		}
		matched = matched || ok
	}
	if !matched {
		return nil, fmt.Errorf("compare: no policy matches %q", o.Arms)
	}
	return chosen, nil
}

// Load is a workload on a cluster. Its cluster is the same for all arms, except for
// failures.
type Load struct {
	Name    string
	source  paper.Source
	cluster sim.Config
	length  time.Duration // during which machines fail
}

// Arm is a policy with its settings.
type Arm struct {
	Name   string
	policy string
	conf   map[string]string
}

// reference is the arm whose sojourn times count as fair: Hadoop's fair scheduler.
const reference = "fair as in Hadoop"

// asInHadoop makes the fair policy conserve no shares.
var asInHadoop = map[string]string{registry.ConserveShares: "false"}

// hfspInside orders the jobs of each pool of the fair policy by hfsp.
var hfspInside = map[string]string{
	registry.Allocations: "<allocations><defaultPoolSchedulingMode>hfsp</defaultPoolSchedulingMode></allocations>",
}

// Arms returns the policies to compare. HFSP runs with errors of sizes of sigma 0, 0.5 and 1
// (lognormal), because real clusters do not know sizes; chronos runs around three policies.
// HFSP also runs with shares of users. Fair runs as in Hadoop, with its defaults, and with hfsp inside of its pools.
func Arms() []Arm {
	arms := []Arm{
		{Name: "fifo", policy: "fifo"}, {Name: reference, policy: "fair", conf: asInHadoop}, {Name: "fair", policy: "fair"},
		{Name: "fair, hfsp inside", policy: "fair", conf: hfspInside}, {Name: "hammr", policy: "hammr"}, {Name: "disco", policy: "disco"},
	}
	for _, sigma := range []float64{0, .5, 1} {
		arms = append(arms, Arm{
			Name: fmt.Sprintf("hfsp, error %g", sigma), policy: "hfsp",
			conf: map[string]string{"hammr.hfsp.size-error": strconv.FormatFloat(sigma, 'g', -1, 64)},
		})
	}
	arms = append(arms, Arm{Name: "hfsp, shares of users", policy: "hfsp", conf: map[string]string{registry.UserShareTimeout: "30000"}})
	return append(arms,
		Arm{Name: "chronos+fifo", policy: "chronos+fifo"},
		Arm{Name: "chronos+" + reference, policy: "chronos+fair", conf: asInHadoop},
		Arm{Name: "chronos+hfsp", policy: "chronos+hfsp"},
	)
}

// nodes is the number of machines in the HFSP paper; all clusters here have its machines.
const nodes = 100

// clusterOf returns a cluster of n machines as in the HFSP paper: 4 map slots and 2 reduce
// slots.
func clusterOf(n int) sim.Config {
	return sim.Config{Machines: n, MapSlots: 4, ReduceSlots: 2, Replication: 3, UserShares: true}
}

// allLoads are all workloads, by the names of their files.
var allLoads = []struct {
	name, file string
	swim       workload.SWIM
	length     time.Duration
}{
	{"hfsp_fb2009", "hfsp_fb2009.csv", workload.SWIM{}, time.Hour},
	{"hfsp_fb2010", "hfsp_fb2010.csv", workload.SWIM{}, 12 * time.Hour},
	{"FB-2009, sample 0", "swim/FB-2009_samples_24_times_1hr_0.tsv", workload.SWIM{OriginalMachines: 600, TargetMachines: nodes}, 24 * time.Hour},
	{"FB-2009, sample 1", "swim/FB-2009_samples_24_times_1hr_1.tsv", workload.SWIM{OriginalMachines: 600, TargetMachines: nodes}, 24 * time.Hour},
	{"FB-2010, sample 0", "swim/FB-2010_samples_24_times_1hr_0.tsv", workload.SWIM{OriginalMachines: 3000, TargetMachines: nodes}, 24 * time.Hour},
}

// Names returns the names of all workloads.
func Names() (names []string) {
	for _, l := range allLoads {
		names = append(names, l.name)
	}
	return names
}

// Loads returns the workloads to compare. The short form is the first workload only.
func Loads(o Options) (loads []Load, err error) {
	for _, l := range allLoads {
		if o.Only != "" && o.Only != l.name {
			continue
		}
		file := filepath.Join(o.Dir, filepath.FromSlash(l.file))
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("compare: trace %s does not exist: name the directory of the traces", file)
		}
		load := Load{
			Name: l.name, cluster: clusterOf(nodes), length: l.length, source: func(seed uint64) (*workload.Workload, error) {
				w, err := workload.ReadFile(file, workload.Options{Model: workload.Model{Sigma: paper.TaskSigma, Seed: seed}, SWIM: l.swim})
				return dealt(w), err
			},
		}
		if o.Short {
			return []Load{load.sampled()}, nil
		}
		loads = append(loads, load)
	}
	if len(loads) == 0 {
		return nil, fmt.Errorf("compare: workload %q: not one of %s", o.Only, strings.Join(Names(), ", "))
	}
	return loads, nil
}

// users is the number of users to whom the jobs of a load belong in turn. The traces name none.
const users = 4

// dealt gives the jobs of a workload to users. It ignores nil.
func dealt(w *workload.Workload) *workload.Workload {
	if w != nil {
		for i := range w.Jobs {
			w.Jobs[i].User = fmt.Sprintf("user%d", i%users)
		}
	}
	return w
}

// sampled returns a smaller load of the same shape. A tenth of the tasks on a tenth of the
// machines has about the same load.
func (l Load) sampled() Load {
	l.cluster, l.source = clusterOf(nodes/paper.SampleEvery), paper.Sampled(l.source)
	return l
}

// A machine fails every hour and returns after some minutes.
const (
	failEvery = time.Hour
	failFor   = 10 * time.Minute
)

// failures returns the machine failures of a load: one in the middle of each hour. The
// machines are chosen in steps, so that each fails about equally often, and the choice is the
// same for all policies.
func (l *Load) failures() (list []sim.Failure) {
	const stride = 37 // prime to the number of machines, so no machine fails twice before all others have
	for n := 0; time.Duration(n)*failEvery < l.length; n++ {
		list = append(list, sim.Failure{
			Machine: n * stride % l.cluster.Machines,
			At:      (time.Duration(n)*failEvery + failEvery/2).Milliseconds(), BackAfter: failFor.Milliseconds(),
		})
	}
	return list
}

// preemption lets each policy take slots in the cheapest mode.
var preemption = preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto}

// All arms of a load have the same seed, so they see the same jobs and failures.
func (l *Load) trial(a Arm, failing bool, seed uint64) paper.Trial {
	t := paper.Trial{
		Experiment: l.Name, Arm: a.Name, Seed: seed, Policy: a.policy, Conf: a.conf,
		Setup:   sched.Setup{Placement: sched.DefaultPlacement(), Preempt: preemption},
		Cluster: l.cluster, Workload: l.source,
	}
	if failing {
		t.Point, t.Cluster.Failures = "a machine an hour fails", l.failures()
	}
	return t
}
