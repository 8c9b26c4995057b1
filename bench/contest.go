package bench

import (
	"context"
	"fmt"
	"path"
	"slices"
)

// Contest is one comparison.
//
// Both sides read the same file from a warm page cache, write to the same disk, and run in
// alternation on the same machine. Each is measured as a whole process, from exec to exit.
// Outputs are compared before anything is measured.
type Contest struct {
	Name  string
	About string // one line
	Input Input
	Ours  Entry
	Rival Entry // the zero Entry if only absolute figures matter
	Goals Goals

	// Compare compares the outputs of both sides; nil for no comparison.
	Compare func(ours, rival string) error
	// Tasks is the number of tasks of a run, for contests that measure tasks.
	Tasks int
	// OutputOnHDFS means that Ours writes its output to Kit.onHDFS of its name.
	OutputOnHDFS bool
	// OnlyByName runs the contest only if it is named.
	OnlyByName bool
	// Prepare runs before all else in the contest, and its cleanup runs last.
	Prepare func(ctx context.Context, k *Kit) (cleanup func() error, err error)
}

// Goals are the results to reach; 0 is no goal. A missed goal is
// printed and does not fail the run, because the machine may be busy.
type Goals struct {
	Ratio       float64 // the rival's time over ours, at least
	Target      float64 // the ratio that further work aims at; missing it is no failure
	Seconds     float64 // our time, at most
	MaxRSSBytes int64   // our memory, at most
}

// Entry is one side of a contest: a program.
//
// Command must not start anything: it only builds the command line, and is called once for
// each run.
type Entry struct {
	Name string
	// Command is the command that reads in and writes out, a file or directory that does not
	// exist yet.
	Command func(k *Kit, in, out string) Command
}

// missing reports whether the Entry is zero, so the contest lacks this side.
func (e Entry) missing() bool { return e.Command == nil }

// choose selects the contests that the patterns name, in the order of all; without patterns, those that do not run
// only by name.
func choose(all []Contest, patterns []string) ([]Contest, error) {
	if len(patterns) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(c Contest) bool { return c.OnlyByName }), nil
	}
	return matching("case", all, func(c Contest) string { return c.Name }, patterns)
}

// matching selects what the patterns for path.Match name, in the order of all; without patterns, all. A pattern that
// matches nothing is an error, so that a misspelt name does not pass as a run without
// results. what says what is selected.
func matching[T any](what string, all []T, name func(T) string, patterns []string) ([]T, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	used := make([]bool, len(patterns))
	chosen := slices.DeleteFunc(slices.Clone(all), func(one T) bool {
		matched := false
		for i, p := range patterns {
			if ok, err := path.Match(p, name(one)); err == nil && ok {
				matched, used[i] = true, true
			}
		}
		return !matched
	})
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("unknown %s %q; --list shows all", what, patterns[i])
	}
	return chosen, nil
}
