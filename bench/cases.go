package bench

import (
	"fmt"
	"path/filepath"
	"slices"
)

// yardstick returns the command of the yardstick's generator. It takes a seed, so all machines have the
// same input.
func yardstick(kind, seed string) func(k *Kit, name string, bytes int64) Command {
	return func(k *Kit, name string, bytes int64) Command {
		return Command{Args: []string{k.Program("gen"), kind, fmt.Sprint(bytes), seed}, Stdout: name}
	}
}

// Inputs of the yardstick's generator.
var (
	textInput    = Input{Name: "text", Command: yardstick("text", "42")}
	teraInput    = Input{Name: "tera", Command: yardstick("tera", "7")}
	bigTeraInput = Input{Name: "tera", Bytes: fourTimes, Command: yardstick("tera", "7")}
	lineInput    = Input{Name: "tline", Command: yardstick("tline", "7")}
	tinyInput    = Input{Name: "text", Bytes: kibibyte, Command: yardstick("text", "42")}
)

// bundled returns the command line of a bundled program, with arguments before its input.
func bundled(name string, args ...string) func(k *Kit, in, out string) Command {
	return func(k *Kit, in, out string) Command {
		return k.Ours([]string{"hammr", "run", name}, append(slices.Clone(args), in, out)...)
	}
}

// job returns the command line of a job of bench/program/jobs. It reads files of the input's
// directory; without files, the input itself.
func job(name string, files ...string) func(k *Kit, in, out string) Command {
	return func(k *Kit, in, out string) Command {
		args := []string{name}
		for _, file := range files {
			args = append(args, filepath.Join(in, file))
		}
		if len(files) == 0 {
			args = append(args, in)
		}
		return k.Ours([]string{"jobs"}, append(args, out)...)
	}
}

// Entries of Hammr.
var (
	wordcount = Entry{"hammr", bundled("wordcount")}
	naive     = Entry{"hammr, naive program", job("naive")}
	plain     = Entry{"hammr, no combiner", job("plain")}
	terasort  = Entry{"hammr", bundled("terasort")}
	sortLines = Entry{"hammr", bundled("sort", "-r", "2")}
)

// Entries of rivals.
var (
	fast2 = Entry{"yardstick wc fast2", func(k *Kit, in, out string) Command {
		return Command{Args: []string{k.Program("wc"), "fast2", in, out}}
	}}
	mrsort = Entry{"yardstick mrsort none", func(k *Kit, in, out string) Command {
		return Command{Args: []string{k.Program("mrsort"), "run", in, out, "128", "2", "none"}}
	}}
	gnuSort = Entry{"GNU sort --parallel=2", func(k *Kit, in, out string) Command {
		return Command{Args: []string{"sort", "--parallel=2", "-T", k.work, "-o", out, in}, Env: []string{"LC_ALL=C"}}
	}}
)

// contests returns all comparisons, in the order in which they run. Their names must not
// change, since results of different days are matched by name.
func contests() []Contest {
	all := []Contest{
		{Name: "start", About: "a job of 1 KB, process start to exit", Input: tinyInput, Ours: wordcount, Goals: Goals{Seconds: 0.050}},
		{Name: "wordcount", About: "wordcount with combiner", Input: textInput, Ours: wordcount, Rival: fast2, Compare: sameCounts, Goals: Goals{Ratio: 0.7, Target: 1}},
		{Name: "wordcount-naive", About: "the same with string keys and bytes.Fields", Input: textInput, Ours: naive, Rival: fast2, Compare: sameCounts, Goals: Goals{Ratio: 0.35}},
		{Name: "wordcount-plain", About: "the same without combiner", Input: textInput, Ours: plain, Rival: fast2, Compare: sameCounts, Goals: Goals{Ratio: 0.15, Target: 0.25}},
		{Name: "terasort", About: "100-byte records", Input: teraInput, Ours: terasort, Rival: mrsort, Compare: sameBytes, Goals: Goals{Ratio: 0.6, Target: 0.8, MaxRSSBytes: 1 << 30}},
		{Name: "terasort-large", About: "four times as many", Input: bigTeraInput, Ours: terasort, Rival: mrsort, Compare: sameBytes, Goals: Goals{Ratio: 0.6, Target: 0.8, MaxRSSBytes: 1 << 30}},
		{Name: "sort", About: "lines of text in total order", Input: lineInput, Ours: sortLines, Rival: gnuSort, Compare: sameBytes, Goals: Goals{Ratio: 4, MaxRSSBytes: 1 << 30}},
	}
	for _, in := range adversarial {
		all = append(all,
			Contest{Name: "wordcount-" + in.Name, About: "wordcount of " + in.Name + " lines", Input: in, Ours: wordcount, Rival: fast2, Compare: sameCounts},
			Contest{Name: "sort-" + in.Name, About: "sort of " + in.Name + " lines", Input: in, Ours: sortLines, Rival: gnuSort, Compare: sameBytes})
	}
	all = append(all, clusterContests()...)
	return append(all, hdfsContests()...)
}
