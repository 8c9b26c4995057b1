package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim/workload"
)

// Scale makes an experiment of a paper small enough for one machine.
type Scale struct {
	Speedup   float64 // times are divided by it
	Divisor   int     // divides the tasks of a job and the slots of a machine; 0 is 1
	StopAfter string  // the job at whose end a trial ends; "" for all
	Tasks     int     // most maps of a job; 0 for no limit
	Note      string  // other differences from the paper

	Input  bool   `json:",omitempty"` // each map reads a block of a real HDFS; otherwise tasks only sleep
	Block  int    `json:",omitempty"` // bytes of a block, a multiple of 64 KiB; 0 is 64 KiB
	Link   int    `json:",omitempty"` // Mbit/s of a machine's link, with Input; 0 is the loopback device
	Hadoop string `json:",omitempty"` // the arm that runs Hadoop's MapReduce over the same HDFS; "" for none
	Busy   bool   `json:",omitempty"` // maps compute instead of sleeping
}

// About describes, for reports, the differences from the papers that all experiments have.
const About = `The trials of the tables below were run on a mini-cluster of processes of one
machine, one trial at a time, and in the simulator with as many tasks and slots.
All tasks of a phase of a job sleep for their mean, since a few cores are not a
cluster; those of a control compute. Times are the paper's: what the clock said, times the factor by which the
trial was faster. So what does not shrink with it, such as the start of a task, counts
that many times over. Machines fail by SIGKILL to their tasknode, and to their DataNode
where there is HDFS. Tasks read no blocks where the list below does not say that they do, and
nothing is said of locality there.
`

// String describes the scale for people.
func (s Scale) String() string {
	text := fmt.Sprintf("%g times as fast", s.Speedup)
	if s.Divisor > 1 {
		text += fmt.Sprintf(", one task and one slot of a machine in %d", s.Divisor)
	}
	if s.Tasks > 0 {
		text += fmt.Sprintf(", %d tasks of a phase at most", s.Tasks)
	}
	if s.Note != "" {
		text += ". " + s.Note
	}
	return text
}

// notRun are the experiments that are not run on a real cluster, with the reasons.
var notRun = map[string]string{
	"fair/shares": "it fills up to 45 machines once to compare whole numbers of slots, which says nothing about processes", "fair/delay": "it is about 100 machines, 30 in the short form, each with a DataNode, which are more than two cores can play",
	"chronos/table1": "16 machines with 48 slots are more processes than two cores start in time", "chronos/table2": "32 machines are more than two cores can play",
	"chronos/moments": "16 machines with 48 slots are more processes than two cores start in time",
	"hfsp/fig4":       "11,000 maps, thinned already, are more than two cores start in an hour", "hfsp/fig5": "it varies the machines up to 100",
	"hfsp/fig6": "it is of the sizes' errors alone, which are drawn alike here and there: eleven hours for what the simulator shows",
}

// scales are the scales of the experiments that are run.
var scales = map[string]Scale{
	"chronos/fifo-maps": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks}, "chronos/fair-maps": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks},
	"chronos/fifo-reduces": {Speedup: 15, Divisor: 4}, "chronos/kill": {Speedup: 12, Divisor: 4},
	"chronos/double": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks}, "chronos/overhead": {Speedup: 10, Divisor: 4},
	"chronos/same-job": {Speedup: 16, Divisor: 4, Input: true, Block: 16 << 20, Link: 256, Note: slowLinks},
	"disco/jobs":       {Speedup: 8, Note: "Tasknodes have slots for reduces of their own, so stages do not share slots as in Disco, and nothing waits between two of them."},
	"fair/timeouts":    {Speedup: 15, Tasks: 80, StopAfter: "production", Note: "Research has 80 maps in place of 400, and is killed when production is over."},
	"disco/busy": {Speedup: 20, Busy: true, Note: "The control: maps count the words of as much text as one map alone gets through in its time, and nothing sleeps. " +
		"What differs from the simulator beyond the rows of jobs that sleep comes of cores: two maps share two of them with the daemons, the start of tasks, and whatever else the machine does. Reduces take what a few sums take."},
	"hammr/shares": {Speedup: 2},
	"hammr/locality": {Speedup: 8, Input: true, Hadoop: paper.HadoopFair, Note: "Blocks are of 64 KiB, in a real HDFS with a DataNode at the address of each tasknode, and hold 64 lines; " +
		"maps sleep for each, reduces for each word. All arms of a repetition read the same blocks. A remote block comes from the same machine at once, so the 11 s that it takes in the simulator are in no real time: " +
		"what arms differ by in time is what slots wait for. A slot may wait for a local map for 30 s of the clock, as on all clusters, and no longer than three maps last. " +
		"The arm of Hadoop is its own MapReduce on YARN with the FairScheduler over the same HDFS, with streaming programs that sleep alike; each of its tasks is a JVM of its own, whose start counts 8 times over, and it has slots of its own for reduces and the job's master."},
	"hfsp/fig3": {Speedup: 30, Divisor: 2, Tasks: 40, Note: "Jobs have 40 maps and 40 reduces at most: the largest of the trace would take hours."},
}

// smallBlocks and slowLinks are notes on experiments that read.
const (
	smallBlocks = "Maps read blocks of 64 KiB of a real HDFS, with 64 lines, and sleep for each. A DataNode is at the address of each tasknode, and is killed with it. " +
		"A remote block comes at once, so what locality is worth in time is not seen."
	slowLinks = "Each machine, with its tasknode and its DataNode, which is killed with it, has a network namespace of its own, and a link that carries 256 Mbit/s in either direction. " +
		"Blocks of a real HDFS are of 16 MiB, with 64 lines, and maps sleep for each."
)

// ScaleOf is the scale of an experiment, or the reason why it is not run.
func ScaleOf(name string, e *paper.Experiment) (s Scale, whyNot string) {
	if e.Workload == nil {
		return s, "it is worked out, and nothing is run"
	}
	key := name + "/" + e.ID
	if why, known := notRun[key]; known {
		return s, why
	}
	s, known := scales[key]
	if !known {
		return s, "there is no scale for it at which two cores could play it"
	}
	return s, ""
}

// scaled is a trial with fewer tasks and slots, in the paper's time. All tasks of a phase
// take their mean, as they do when they sleep.
func (s Scale) scaled(t paper.Trial) paper.Trial {
	thin := max(s.Divisor, 1)
	t.Cluster.MapSlots = slotsOf(t.Cluster.MapSlots, thin)
	t.Cluster.ReduceSlots = slotsOf(t.Cluster.ReduceSlots, thin)
	t.Cluster.Series = true
	whole := t.Workload
	t.Workload = func(seed uint64) (*workload.Workload, error) {
		w, err := whole(seed)
		if err != nil {
			return nil, err
		}
		for i := range w.Jobs {
			j := &w.Jobs[i]
			j.Maps, j.Reduces = evenTasks(j.Maps, thin, s.Tasks), evenTasks(j.Reduces, thin, s.Tasks)
		}
		return w, nil
	}
	return t
}

// slotsOf divides slots; numbers that mean none or the default stay.
func slotsOf(slots, thin int) int {
	if slots <= 0 {
		return slots
	}
	return max(slots/thin, 1)
}

// evenTasks keeps one task in thin, at most most, and gives each the mean time.
func evenTasks(tasks []workload.Task, thin, most int) []workload.Task {
	n := (len(tasks) + thin - 1) / thin
	if most > 0 {
		n = min(n, most)
	}
	some := append([]workload.Task(nil), tasks[:n]...)
	for i := range some {
		some[i].Millis = int64(Mean(tasks))
	}
	return some
}

// timeSettings are settings of policies that are times, in ms.
var timeSettings = []string{"hammr.disco.transition.hold", "hammr.scheduler.preemption.timeout"}

var timeout = regexp.MustCompile(`(PreemptionTimeout>)(\d+)<`)

// settings are those of the trial's policy on the faster cluster. Time-outs of allocation
// files are whole seconds, at least one.
func (s Scale) settings(t paper.Trial) map[string]string {
	conf := maps.Clone(t.Conf)
	if conf == nil {
		conf = map[string]string{}
	}
	for _, name := range timeSettings {
		if ms, err := strconv.ParseFloat(conf[name], 64); err == nil {
			conf[name] = strconv.Itoa(int(math.Max(math.Round(ms/s.Speedup), 1)))
		}
	}
	if text, found := conf[registry.Allocations]; found {
		conf[registry.Allocations] = timeout.ReplaceAllStringFunc(text, func(found string) string {
			parts := timeout.FindStringSubmatch(found)
			seconds, _ := strconv.ParseFloat(parts[2], 64) // digits
			return fmt.Sprintf("%s%d<", parts[1], max(1, int(math.Round(seconds/s.Speedup))))
		})
		delete(conf, registry.AllocationFile)
	}
	setMode(conf, "hammr.scheduler.map-preemption", t.Setup.Preempt.Map)
	setMode(conf, "hammr.scheduler.reduce-preemption", t.Setup.Preempt.Reduce)
	return conf
}

// setMode sets a preemption mode. Trials kill by default; clusters would choose the cheapest
// mode.
func setMode(conf map[string]string, setting string, way preempt.Mode) {
	conf[setting] = string(cmp.Or(way, preempt.Kill))
}

// wallTime converts a time of the paper to one of the cluster.
func (s Scale) wallTime(ms int64) time.Duration {
	return time.Duration(float64(ms) / s.Speedup * float64(time.Millisecond))
}

// key distinguishes trials of different scales.
func (s Scale) key() string {
	text, _ := json.Marshal(s) // it cannot fail
	return string(text)
}
