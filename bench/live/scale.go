package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim/workload"
)

// Scale makes an experiment of a paper small enough for one machine.
//
//	paper            16 machines × 8 slots, maps of 66 s
//	scale 10, 4      16 machines × 2 slots, a quarter of the maps, 6.6 s each
//	result           measured times × 10
//
// Scaling keeps the ratio of work to slots and the order of events. It does not scale the cost
// of a start, which therefore counts ten times.
type Scale struct {
	Speedup   float64 // times are divided by it
	Divisor   int     // divides the tasks of a job and the slots of a machine; 0 is 1
	Machines  int     `json:",omitempty"` // divides the machines and the tasks of a job; 0 is 1
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
func (s *Selection) About() string {
	where := "a small cluster of processes on one\nmachine"
	if s.Testbed != nil {
		where = "clusters on the machines of a hostfile"
	}
	return fmt.Sprintf(about, where, taskCost, messageCost)
}

const about = `The trials of the tables below ran on %s, one trial at a time, and in the simulator with the same numbers of tasks and slots.
All tasks of a phase of a job sleep for their mean time, since a few cores are not a
cluster; those of a control compute. Times are in the paper's scale: measured times,
multiplied by the factor by which the trial was faster. Costs that do not scale with it,
such as the start of a task, therefore count that many times, in the simulator too:
%d ms for a task, %d ms for a message, and progress at most once a second. A machine fails as
if it lost its power: SIGSTOP of its tasknode, and SIGKILL of its DataNode if there is HDFS. Tasks read no blocks unless the list
below says so; tables of other experiments have no rows about locality.
`

// String describes the scale for people.
func (s Scale) String() string {
	text := s.short()
	if s.Note != "" {
		text += ". " + s.Note
	}
	return text
}

// short is String without the note.
func (s Scale) short() string {
	text := fmt.Sprintf("%g times as fast", s.Speedup)
	if s.Divisor > 1 {
		text += fmt.Sprintf(", one task and one slot of a machine in %d", s.Divisor)
	}
	if s.Machines > 1 {
		text += fmt.Sprintf(", one machine and one task in %d", s.Machines)
	}
	if s.Tasks > 0 {
		text += fmt.Sprintf(", at most %d tasks of a phase", s.Tasks)
	}
	return text
}

// notRun are the experiments that are not run on a real cluster, with the reasons. Keys are
// PAPER/EXPERIMENT. The texts follow "is not run:" in reports.
var notRun = map[string]string{
	"fair/shares": "it fills up to 45 machines once to compare whole numbers of slots; real processes would add nothing", "fair/delay": "it needs 100 machines, 30 in the short form, each with a DataNode: too many for two cores",
	"chronos/table1": "two cores cannot start the processes of 16 machines with 48 slots in time", "chronos/table2": "32 machines are too many for two cores",
	"chronos/moments": "two cores cannot start the processes of 16 machines with 48 slots in time",
	"hfsp/fig4":       "two cores cannot start its 11,000 maps, already a sample, in an hour", "hfsp/fig5": "it varies the number of machines up to 100",
	"hfsp/fig6": "it depends only on the errors of sizes, which are drawn in the same way in the simulator; it would take eleven hours",
}

// scales are the scales of the experiments that are run.
var scales = map[string]Scale{
	"chronos/fifo-maps": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks}, "chronos/fair-maps": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks},
	"chronos/fifo-reduces": {Speedup: 15, Divisor: 4}, "chronos/kill": {Speedup: 12, Divisor: 4},
	"chronos/double": {Speedup: 10, Divisor: 4, Input: true, Note: smallBlocks}, "chronos/overhead": {Speedup: 10, Divisor: 4},
	"chronos/same-job": {Speedup: 16, Divisor: 4, Input: true, Block: 16 << 20, Link: 256, Note: slowLinks},
	"disco/jobs":       {Speedup: 8, Note: "Tasknodes have separate reduce slots, so stages do not share slots as in Disco, and no task waits between two stages."},
	"fair/timeouts":    {Speedup: 15, Tasks: 80, StopAfter: "production", Note: "Research has 80 maps instead of 400, and is killed at the end of production."},
	"disco/busy": {Speedup: 20, Busy: true, Note: "The control: each map counts the words of as much text as one map alone processes in its time, and no task sleeps. " +
		"Larger differences from the simulator than those of jobs that sleep are caused by the cores: two maps share two cores with the daemons, with starting tasks and with other programs. Reduces only add up a few numbers."},
	"hammr/shares": {Speedup: 2},
	"hammr/locality": {Speedup: 8, Input: true, Block: 16 << 20, Link: 28, Hadoop: paper.HadoopFair, Note: "Each machine has a network namespace with its tasknode and a DataNode, and a link of 28 Mbit/s in each direction. " +
		"Blocks of a real HDFS are of 16 MiB with 64 lines. Maps sleep for each line, and reduces for each word. All arms of a repetition read the same blocks. " +
		"Maps read ahead while they sleep, so a remote block costs time only as far as links are shared: the rate is chosen so that without locality an average one costs 11 s, as in the simulator. " +
		"A slot waits for a local map for at most 30 s of real time, as on all clusters, and at most as long as three maps take. " +
		"The arm of Hadoop is Hadoop's MapReduce on YARN with the FairScheduler in the same namespaces over the same HDFS, with streaming programs that sleep in the same way. Each of its tasks is a JVM, whose start counts 8 times, and it has separate slots for reduces and for the application master."},
	"hfsp/fig2": {Speedup: 1, Divisor: 5, Note: "A master does not know the sizes of jobs, so HFSP estimates them, in the simulator too."},
	"hfsp/fig7": {Speedup: 10},
	"hfsp/fig3": {Speedup: 30, Divisor: 2, Tasks: 40, Note: "Jobs have at most 40 maps and 40 reduces: the largest jobs of the trace would take hours."},
}

// smallBlocks and slowLinks are notes on experiments that read.
const (
	smallBlocks = "Maps read blocks of 64 KiB with 64 lines from a real HDFS, and sleep for each line. A DataNode is at the address of each tasknode, and fails with it. " +
		"A remote block arrives at once, so locality saves no time."
	slowLinks = "Each machine has a network namespace, with its tasknode and a DataNode that fails with it, and a link of 256 Mbit/s in each direction. " +
		"Blocks of a real HDFS are of 16 MiB with 64 lines, and maps sleep for each line."
)

// ScaleOf returns the scale of an experiment, or the reason why it is not run. Each experiment
// with a workload is in exactly one of the two tables, which a test checks.
func ScaleOf(name string, e *paper.Experiment) (s Scale, whyNot string) {
	if e.Workload == nil {
		return s, "it is computed, and nothing runs"
	}
	key := name + "/" + e.ID
	if why, known := notRun[key]; known {
		return s, why
	}
	return scales[key], ""
}

// scaled returns a trial with fewer tasks and slots, in the paper's time. All tasks of a phase
// take their mean, as they do when they sleep. The simulated arm of a comparison uses it
// too, so both sides have equal tasks.
func (s Scale) scaled(t paper.Trial) paper.Trial {
	thin := max(s.Divisor, 1)
	t.Cluster.MapSlots = slotsOf(t.Cluster.MapSlots, thin)
	t.Cluster.ReduceSlots = slotsOf(t.Cluster.ReduceSlots, thin)
	t.Cluster.Series = true
	fewer := max(s.Machines, 1)
	t.Cluster.Machines = (t.Cluster.Machines + fewer - 1) / fewer
	t.Cluster.Failures = slices.Clone(t.Cluster.Failures)
	for i := range t.Cluster.Failures {
		t.Cluster.Failures[i].Machine %= t.Cluster.Machines
	}
	if t.Conf[estimator] == "oracle" { // masters do not know the sizes of jobs
		t.Conf = maps.Clone(t.Conf)
		delete(t.Conf, estimator)
	}
	t.Workload = t.Workload.Each(func(_ int, j *workload.Job) {
		j.Maps, j.Reduces = evenTasks(j.Maps, thin*fewer, s.Tasks), evenTasks(j.Reduces, thin*fewer, s.Tasks)
	})
	return t
}

// What a cluster costs at any scale, in ms on its own clock: about what machines like those of docs/papers/real.md need.
const (
	taskCost      = 35   // of a task besides its sleep, for the start and end of its process
	messageCost   = 10   // of a message, with the commit of a master's log
	progressPause = 1000 // least time between two reports of a task's progress
)

// simulated returns the scaled trial for the simulator, with what a cluster costs at any scale. In the paper's time these
// costs are Speedup times as long. Without them HFSP gained 1.53 over fair sharing in the simulator where the cluster had 1.42:
// medium jobs have the most waves of tasks, and reduces of a second ended before their progress showed their size.
func (s Scale) simulated(t paper.Trial) paper.Trial {
	t = s.scaled(t)
	inPaper := func(ms float64) int64 { return int64(math.Round(ms * cmp.Or(s.Speedup, 1))) }
	t.Cluster.Latency, t.Cluster.ProgressInterval, t.Cluster.ReportInterval = inPaper(messageCost), inPaper(progressPause), 0
	t.Workload = t.Workload.Each(func(_ int, j *workload.Job) {
		for _, tasks := range [][]workload.Task{j.Maps, j.Reduces} {
			for i := range tasks { // of this trial alone: evenTasks copied them
				tasks[i].Millis += inPaper(taskCost)
			}
		}
	})
	return t
}

// estimator is the setting of how HFSP estimates sizes.
const estimator = "hammr.hfsp.estimator"

// slotsOf divides a number of slots, and leaves at least one slot. Numbers that mean "none" or
// "the default" do not change.
func slotsOf(slots, thin int) int {
	if slots <= 0 {
		return slots
	}
	return max(slots/thin, 1)
}

// evenTasks keeps one of every thin tasks, but no more than most of them, and gives each the
// mean time of all tasks.
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

// timeSettings are settings of policies that are times of the workload, in ms. Waits for the
// cluster itself, such as those for progress reports, do not shrink with the workload.
var timeSettings = []string{
	"hammr.disco.transition.hold", "hammr.scheduler.preemption.timeout", registry.MinRun,
	"mapred.hfsp-scheduler.initial-map-duration", "mapred.hfsp-scheduler.initial-reduce-duration", "mapred.hfsp-scheduler.sojourn-trainer.reduce.time",
}

var timeout = pattern.New(`(PreemptionTimeout>)(\d+)<`)

// settings returns the settings of the trial's policy for the faster cluster. Its times shrink, also
// those that have their defaults. HFSP, for one, estimates a reduce after Delta = 60 s: if tasks are
// 30 times as fast and Delta is not, it learns sizes too late, and gains 1.22 over fair sharing in
// the simulator instead of 1.55. Time-outs in allocation files are whole seconds, at least one. The
// caller's map does not change.
func (s Scale) settings(t paper.Trial) map[string]string {
	conf := maps.Clone(t.Conf)
	if conf == nil {
		conf = map[string]string{}
	}
	for _, setting := range append(registry.SharedSettings(), registry.SettingsOf(t.Policy)...) {
		ms, err := strconv.ParseFloat(cmp.Or(conf[setting.Name], setting.Default), 64)
		if err == nil && slices.Contains(timeSettings, setting.Name) {
			conf[setting.Name] = strconv.Itoa(int(math.Max(math.Round(ms/s.Speedup), 1)))
		}
	}
	if text, found := conf[registry.Allocations]; found {
		conf[registry.Allocations] = timeout().ReplaceAllStringFunc(text, func(found string) string {
			parts := timeout().FindStringSubmatch(found)
			seconds, _ := strconv.ParseFloat(parts[2], 64) // digits
			return fmt.Sprintf("%s%d<", parts[1], max(1, int(math.Round(seconds/s.Speedup))))
		})
		delete(conf, registry.AllocationFile)
	}
	setMode(conf, "hammr.scheduler.map-preemption", t.Setup.Preempt.Map)
	setMode(conf, "hammr.scheduler.reduce-preemption", t.Setup.Preempt.Reduce)
	return conf
}

// setMode sets a preemption mode. Trials kill by default; clusters would choose the
// cheapest mode. So both sides of a comparison preempt in the same mode.
func setMode(conf map[string]string, setting string, mode preempt.Mode) {
	conf[setting] = string(cmp.Or(mode, preempt.Kill))
}

// wallTime converts a time of the paper to one of the cluster. wallTime is the inverse of
// what Result does with Speedup.
func (s Scale) wallTime(ms int64) time.Duration {
	return time.Duration(float64(ms) / s.Speedup * float64(time.Millisecond))
}

// key distinguishes trials of different scales. Any change of a scale makes saved trials
// invalid.
func (s Scale) key() string {
	text, _ := json.Marshal(s) // it cannot fail
	return string(text)
}
