package registry

import (
	"slices"
	"strings"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Settings of every policy of a running cluster: the preemption mode of each slot kind. The
// simulator has flags instead.
const (
	MapPreemption    = "hammr.scheduler.map-preemption"
	ReducePreemption = "hammr.scheduler.reduce-preemption"
)

// Setting describes a setting of a policy, for people and for forms. docs/schedulers.md has the same
// table, and a test compares them with what policies read.
type Setting struct {
	Name    string
	Type    SettingType
	Default string   // as text; "" for none
	Range   string   // of its values, for people
	Values  []string // of a Choice
	Doc     string   // one phrase
}

// SettingType is the type of the value of a setting.
type SettingType string

// Types of settings.
const (
	Bool    SettingType = "bool"
	Integer SettingType = "integer"
	Number  SettingType = "number"
	Millis  SettingType = "ms"
	Choice  SettingType = "choice"
	Text    SettingType = "text"
)

const aboveNull = "above 0"

// settingsOfAll are the settings of every policy.
var settingsOfAll = []Setting{
	choice(MapPreemption, string(preempt.Auto), "how maps give up their slots; auto is the cheapest way", modeNames()...),
	choice(ReducePreemption, string(preempt.Auto), "how reduces give up their slots", modeNames()...),
	{MinRun, Millis, "10000", aboveNull + ", or never", nil, "the least time that a resumed attempt keeps its slot"},
	{DiskRate, Integer, "100000000", aboveNull, nil, "bytes/s of a machine's disk"},
	{SplitTime, Millis, "500", aboveNull, nil, "the time to publish the output of a split map"},
	{SlotFreeLatency, Millis, "300", aboveNull, nil, "the time until the master knows that a slot is free; an attempt that ends sooner is waited for"},
	{TaskMemory, Integer, "1000000000", aboveNull, nil, "bytes of a task that has not reported its memory"},
	choice(Victims, "", "which attempt loses its slot first, of those that may; default as the policy says: most often the youngest"),
	choice(PlacementMethod, string(sched.Flow), "how tasks are matched with machines; a job may choose its own (`hammr.job.placement`)", string(sched.Flow), string(sched.Delay), string(sched.None)),
	{LocalityDelay, Millis, "", "from 0; -1 for the default", nil, "sets both waits for locality; setting one of the three selects delay"},
	{NodeDelay, Millis, "4500", "from 0; -1 for the default", nil, "how long a slot waits for tasks with input on its machine"},
	{RackDelay, Millis, "4500", "from 0; -1 for the default", nil, "how long it then waits for tasks with input in its rack"},
}

// allocationFile is a setting of the policies that have pools.
var allocationFile = Setting{AllocationFile, Text, "", "name of a file", nil, "file of pools; without one all pools are equal"}

// The settings that only some policies have. Values of a Choice that are names of what is registered are
// filled in by withNames.
var (
	fairSettings = []Setting{
		allocationFile,
		flag(ConserveShares, "true", "keep shares by suspending and checkpointing attempts; without effect while preemption is true"),
		flag("mapred.fairscheduler.preemption", "false", "take slots from pools above their share by Hadoop's time-outs"),
		flag("mapred.fairscheduler.sizebasedweight", "false", "weigh jobs by the logarithm of their tasks"),
		flag("mapred.fairscheduler.newjobboost", "false", "weigh new jobs more"),
		choice("mapred.fairscheduler.weightadjuster", "", "Hadoop's class for the same as newjobboost=true", weightBooster),
		{"mapred.newjobweightbooster.factor", Number, "3", aboveNull, nil, "weight of a new job"},
		{"mapred.newjobweightbooster.duration", Millis, "300000", aboveNull, nil, "for how long a job is new"},
		{"mapred.fairscheduler.load.max.diff", Number, "", aboveNull, nil, "from 0, spread a light load evenly, to 1, fill machines up; it keeps no slot free that only some tasks can use; default 0"},
	}
	hammrSettings = []Setting{
		allocationFile,
		flag("hammr.scheduler.locality", "true", "false places tasks blindly, as one arm of the paper's experiment"),
		flag("hammr.scheduler.preemption", "true", "take slots from pools above their share"),
		{"hammr.scheduler.preemption.threshold", Number, "", "above 0, at most 1", nil, "part of its share below which a pool starves; default 2/3"},
		{"hammr.scheduler.preemption.timeout", Millis, "15000", aboveNull, nil, "how long a pool starves before it gets slots"},
	}
	hfspSettings = []Setting{
		{hadoopHFSP + "trainer.min-maps", Integer, "5", aboveNull, nil, "maps of a sample"},
		{hadoopHFSP + "trainer.min-reduces", Integer, "5", aboveNull, nil, "reduces of a sample"},
		{hadoopHFSP + "train-map-slots", Integer, "", "from 0", nil, "map slots for samples; default a quarter of all"},
		{hadoopHFSP + "train-reduce-slots", Integer, "", "from 0", nil, "reduce slots for samples; default a quarter of all"},
		{hadoopHFSP + "duration-modifier-map", Number, "1", "from 1, or inf", nil, "factor of the size of jobs without a sample (the paper's xi), for maps"},
		{hadoopHFSP + "duration-modifier-reduce", Number, "1", "from 1, or inf", nil, "the same for reduces"},
		{hadoopHFSP + "initial-map-duration", Millis, "60000", aboveNull, nil, "guess of the time of a map"},
		{hadoopHFSP + "initial-reduce-duration", Millis, "60000", aboveNull, nil, "guess of the time of a reduce"},
		{hadoopHFSP + "sojourn-trainer.reduce.time", Millis, "60000", aboveNull + ", or never", nil, "how long a reduce runs before its time is estimated (the paper's Delta)"},
		choice(hadoopHFSP+"preemption-strategy", "", "how slots are taken; default as the cluster", "eager", "wait", "kill"),
		{UserShareTimeout, Millis, "", aboveNull, nil, "how long a user may be below its share before it gets slots first; default for ever"},
		{"hammr.hfsp.suspended.max", Integer, "", "from 0", nil, "suspended maps, and suspended reduces, at which no more are suspended until a quarter of them has resumed; default as many as slots"},
		choice(estimatorSetting, defaultEstimator, "statistics that estimate sizes; oracle only in the simulator"),
		{"hammr.hfsp.size-error", Number, "0", "0 to 10", nil, "errors of the estimates, for experiments"},
		choice("hammr.hfsp.size-error-law", "lognormal", "distribution of these errors", "lognormal", "uniform"),
		{"hammr.hfsp.seed", Integer, "0", "from 0", nil, "seed of these errors"},
	}
	discoSettings = []Setting{
		{"hammr.disco.transition.hold", Millis, "", aboveNull, nil, "how long a free slot is reserved for a job between two stages; default 2 × `" + SlotFreeLatency + "`, at most 10000"},
	}
	chronosSettings = []Setting{
		choice(ChronosPolicy, "fifo", "the policy that chronos wraps; `chronos+fair` says the same"),
		{"hammr.chronos.wait", Millis, "1500", aboveNull, nil, "the wait for fresh progress reports after a failure"},
		{"hammr.chronos.reserve", Millis, "15000", aboveNull, nil, "how long a freed slot is reserved"},
		flag("hammr.chronos.same-job", "false", "whether a task may preempt tasks of its own job"),
		choice(ChronosVictims, "least", "which attempts of the job of the lowest priority are preempted first: those that have done least, or, as the paper compares priorities only, those of its first tasks", "least", "priority"),
	}
)

func flag(name, byDefault, doc string) Setting {
	return Setting{name, Bool, byDefault, "true or false", []string{"true", "false"}, doc}
}

func choice(name, byDefault, doc string, values ...string) Setting {
	return Setting{name, Choice, byDefault, strings.Join(values, ", "), values, doc}
}

func modeNames() []string { return strings.Split(preempt.Names(preempt.Modes), ", ") }

// withNames returns a copy of some settings in which each Choice among what is registered has its values.
func withNames(settings []Setting) []Setting {
	settings = slices.Clone(settings)
	for i, s := range settings {
		switch s.Name {
		case ChronosPolicy:
			settings[i] = choice(s.Name, s.Default, s.Doc, policies.names()...)
		case estimatorSetting:
			settings[i] = choice(s.Name, s.Default, s.Doc, estimators.names()...)
		case Victims:
			settings[i] = choice(s.Name, s.Default, s.Doc, orders.names()...)
		}
	}
	return settings
}

// SharedSettings returns the settings that every policy has.
func SharedSettings() []Setting { return withNames(settingsOfAll) }

// SettingsOf returns the settings that a policy has besides those of every policy: for chronos also
// those of the policy that a name as chronos+fair says it wraps. It is nil for an unknown policy.
func SettingsOf(policy string) []Setting {
	inner, wraps := chronosInner(policy)
	if !wraps {
		return withNames(policies.all[policy].Settings)
	}
	own := withNames(chronosSettings)
	if inner == "" {
		return own
	}
	// The name says which policy is wrapped, so the setting must not.
	own = slices.DeleteFunc(own, func(s Setting) bool { return s.Name == ChronosPolicy })
	return append(own, withNames(policies.all[inner].Settings)...)
}
