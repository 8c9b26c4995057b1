package mr

import (
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf"
)

// why says what decides the number of Nodes of a stage.
func (e *explanation) why(s dag.Stage) string {
	if f := e.inputs[s.Name]; f != nil {
		return f.String()
	}
	switch count := e.counts[s.Name]; {
	case count.kind == isFixed:
		return "set by the program"
	case count.kind == asSplits:
		return fmt.Sprintf("one for each task of %s", count.source.name)
	}
	switch e.reduces {
	case setByUser:
		return conf.JobReduces + ", set by the user"
	case setByProgram:
		return conf.JobReduces + ", set by the program"
	case setByAuto:
		return conf.ReducesAuto + ": from the reduce slots"
	}
	return conf.JobReduces + " has its default"
}

// String describes an input and its splits.
func (f *inputFacts) String() string {
	switch {
	case f.splits == 0:
		return "no input"
	case f.files == 0:
		return "the input has no files; the program divides it"
	}
	text := fmt.Sprintf("%s, %s, splits of up to %s", plural(f.files, "file"), console.BytesText(f.bytes), console.BytesText(f.largest))
	if f.whole > 0 {
		text += fmt.Sprintf("; %d cannot be divided", f.whole)
	}
	if f.combined > 0 {
		text += "; small files share splits"
	}
	return text
}

// plural returns a number with a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// oneCore returns why a stage runs one task at once or none, and what to do.
func (e *explanation) oneCore(s dag.Stage) (cause, remedy string) {
	kind := e.graph.SlotsOf(s.Name)
	if e.slotsOf(kind) == 0 {
		return e.fewSlots(kind)
	}
	if f := e.inputs[s.Name]; f != nil && s.Nodes == 1 {
		return f.oneSplit(e.minSplit)
	}
	if s.Nodes > 1 {
		return e.fewSlots(kind)
	}
	switch count := e.counts[s.Name]; count.kind {
	case isFixed:
		return "the program gives it one task", "Send it few records: combine them, or filter them, in the stage before"
	case asSplits:
		return fmt.Sprintf("it has one task for each task of %s", count.source.name), fmt.Sprintf("See stage %s", count.source.name)
	}
	remedy = fmt.Sprintf("Set -D %s=%d", conf.JobReduces, max(e.slotsOf(kind), 2))
	if e.reduces == setByDefault {
		remedy += fmt.Sprintf(" or -D %s=true", conf.ReducesAuto)
	}
	return conf.JobReduces + " is 1", remedy + "; the output is then one file for each reduce"
}

// fewSlots returns the cause and remedy for a stage of several tasks that wait for a slot.
func (e *explanation) fewSlots(kind dag.SlotKind) (cause, remedy string) {
	cause = fmt.Sprintf("of %v slots there are %d, and tasks that are piped together take one each", kind, e.slotsOf(kind))
	if e.cluster {
		return cause, "Start tasknodes, or give them more slots"
	}
	return cause, "Raise --workers, whose default is the number of cores"
}

// oneSplit returns the cause and remedy for an input of one split.
func (f *inputFacts) oneSplit(minSplit int64) (cause, remedy string) {
	size := console.BytesText(f.bytes)
	switch {
	case f.files == 0:
		return "the program makes one split of its input", "See the program's options, such as -D " + conf.JobMaps
	case f.files == 1 && f.whole == 1:
		return fmt.Sprintf("its file of %s cannot be divided, since it is compressed or read as a whole", size),
			"Store the input as several files, without compression, or as .bz2"
	case f.combined == 1:
		return fmt.Sprintf("its %d small files share one split", f.files),
			fmt.Sprintf("Set -D %s=false, which gives each file a task; for less than some MiB a task costs more than it saves", conf.InputCombine)
	case minSplit >= f.bytes && minSplit > 1:
		return fmt.Sprintf("its file of %s is shorter than %s, which is %s", size, conf.SplitMinSize, console.BytesText(minSplit)), "Lower " + conf.SplitMinSize
	}
	return fmt.Sprintf("its file of %s is one split", size),
		fmt.Sprintf("Set -D %s=%d to get two; for less than some MiB a task costs more than it saves", conf.SplitMaxSize, max((f.bytes+1)/2, 1))
}
