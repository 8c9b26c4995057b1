package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/hammr/hammr/dag"
)

// A task runs its user's code, so its last report may be wrong or forged. The checks of this
// file run when the report is applied, the same way on every master, before anything in the
// state depends on it. A report that does not pass fails its attempt.
//
// Files of a job's output are joined and removed with the rights of the master. So each piece
// must be a file of the attempt's own task:
//
//	OUT/_temporary/JOB/ATTEMPT.part.000.gz    ATTEMPT is the attempt, or an earlier one of the task
//	OUT/part-m-00007.gz                       the final name: Output, Part and Suffix

const (
	temporaryName   = "_temporary" // directory in a job's output for files that are not committed
	maxPathBytes    = 4096
	maxNameBytes    = 200           // in the name of an output or in a suffix
	maxCounterBytes = 1024          // in the name of a counter or a group; properties of jobs may not exceed it
	checkpointsName = "checkpoints" // directory for copies of checkpoints, below that of the job
)

// checkFinished reports what is wrong with the output or the counters of a finished attempt.
func (tx *transition) checkFinished(p taskRef, m Manifest, counters []Counter) error {
	return errors.Join(p.checkSegments(m), p.checkPieces(m, tx.Limits), checkBytes(m.Bytes, m.Records), tx.checkCounters(p.job, counters))
}

// checkBytes refuses negative numbers.
func checkBytes(numbers ...int64) error {
	for _, n := range numbers {
		if n < 0 {
			return fmt.Errorf("a negative number of bytes or records: %d", n)
		}
	}
	return nil
}

// checkSegments checks that each file is of an edge that leaves the task, and that no Node of
// the task has two files for an edge.
func (p taskRef) checkSegments(m Manifest) error {
	type written struct{ edge, node int }
	seen := make(map[written]bool, len(m.Segments))
	for _, s := range m.Segments {
		edges := p.job.Spec.Graph.Edges
		if s.Edge < 0 || s.Edge >= len(edges) {
			return fmt.Errorf("output for edge %d: the job's graph has %d edges", s.Edge, len(edges))
		}
		e := edges[s.Edge]
		from := p.job.Spec.Graph.StageIndex(e.From)
		switch {
		case e.Channel != dag.ChannelFile || e.FilesOf != "" || p.job.StageOf(e.From) != p.stage:
			return fmt.Errorf("output for edge %v: it is not a file that %v writes", e, p.task.ID)
		case !p.hasNode(from, s.Node, p.task.ID.Number):
			return fmt.Errorf("output for edge %v of node %d: %v does not have that node", e, s.Node, p.task.ID)
		case seen[written{s.Edge, s.Node}]:
			return fmt.Errorf("output for edge %v of node %d: named twice", e, s.Node)
		}
		seen[written{s.Edge, s.Node}] = true
		if e.Stored {
			if err := p.checkStaged(s.Path); err != nil {
				return err
			}
		} else if err := checkPath(s.Path); err != nil {
			return err
		}
	}
	return nil
}

// hasNode reports whether a Node belongs to the task. The Node of a task that was split from
// another is named differently in reports: by the number of the task, or by its Part.
func (p taskRef) hasNode(stage, node, ofSplit int) bool {
	class := p.stage.Index
	if p.task.ID.Number >= p.job.Layout.Groups[class].Count {
		return node == ofSplit && len(p.stage.Nodes) == 1 && p.stage.Nodes[0] == stage
	}
	for _, span := range p.job.Layout.Nodes(dag.GroupID{Class: class, Index: p.task.ID.Number}) {
		if span.Stage == stage {
			return span.First <= node && node < span.End
		}
	}
	return false
}

// checkPieces checks the files of the job's output.
func (p taskRef) checkPieces(m Manifest, limits Limits) error {
	if err := limits.errExceeds(len(m.Pieces), &limits.Pieces, "files written by an attempt"); err != nil {
		return err
	}
	seen := make(map[string]bool, len(m.Pieces))
	for _, f := range m.Pieces {
		switch {
		case !isName(f.Output) || strings.HasPrefix(f.Output, "."):
			return fmt.Errorf("file of output %q: the name of an output has letters of ASCII, digits, dots, hyphens and underscores", shorten(f.Output))
		case f.Suffix != "" && !isName(f.Suffix):
			return fmt.Errorf("file with suffix %q: a suffix has letters of ASCII, digits, dots, hyphens and underscores", shorten(f.Suffix))
		case !p.hasNode(f.Stage, f.Part, p.task.Part):
			return fmt.Errorf("file of output %s of node %d of stage %d: %v does not have that node", f.Output, f.Part, f.Stage, p.task.ID)
		case seen[f.Path]:
			return fmt.Errorf("file %s: named twice", f.Path)
		}
		seen[f.Path] = true
		if err := errors.Join(checkBytes(f.Length, f.Records), p.checkStaged(f.Path)); err != nil {
			return err
		}
	}
	return nil
}

// isName reports whether a text can be part of the name of a file: it has no separators and
// no characters that change how a terminal shows it.
func isName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return text != "" && len(text) <= maxNameBytes && strings.Trim(text, letters+"._-") == ""
}

// checkPath refuses a name that is too long or has control characters.
func checkPath(name string) error {
	if len(name) > maxPathBytes || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("file %q: a name has at most %d bytes and no control characters", shorten(name), maxPathBytes)
	}
	return nil
}

// shorten bounds a text of a task in an error.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return truncated(text, most) + "…"
}

// checkStaged checks that a file lies where the attempts of the job write, and that an attempt
// of the task has written it. Attempts before a checkpoint have written files too.
func (p taskRef) checkStaged(name string) error {
	if err := p.checkBelow(name, ""); err != nil {
		return err
	}
	writer, _, _ := strings.Cut(path.Base(name), ".")
	id, err := ParseAttemptID(writer)
	if err != nil || id.Task != p.task.ID || p.task.Attempt(id.Number) == nil {
		return fmt.Errorf("file %q: its name does not begin with the id of an attempt at %v", name, p.task.ID)
	}
	return nil
}

// checkBelow checks that a full name is that of a file directly in a directory below
// OUT/_temporary/JOB. It compares paths without their file system, because the commit opens
// files only on the file system of the output. The directory of a relative OutputDir is not
// known here.
func (p taskRef) checkBelow(name, relative string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if p.job.Spec.OutputDir == "" {
		return fmt.Errorf("file %q: the job has no output directory", name)
	}
	out := pathOf(p.job.Spec.OutputDir)
	want := path.Join(out, temporaryName, p.job.ID.String(), relative)
	dir, file := path.Split(pathOf(name))
	dir = strings.TrimSuffix(dir, "/")
	if !path.IsAbs(out) {
		dir, want = dir[max(0, len(dir)-len(want)-1):], "/"+want
	}
	if dir != want || file == "" || file == "." || file == ".." {
		return fmt.Errorf("file %q: it is not in %s, where attempts of the job write", name, want)
	}
	return nil
}

// pathOf returns the path in a full name: without scheme and authority.
func pathOf(name string) string {
	scheme, rest, found := strings.Cut(name, ":")
	if !found || strings.Contains(scheme, "/") || !strings.HasPrefix(rest, "/") {
		return name
	}
	if authority, found := strings.CutPrefix(rest, "//"); found {
		if i := strings.IndexByte(authority, '/'); i >= 0 {
			return authority[i:]
		}
		return "/"
	}
	return rest
}

// checkCounters checks the counters of an attempt, together with those that its job has. The
// task itself applies the job's limits on the lengths of names. Their upper bound is checked
// here.
func (tx *transition) checkCounters(j *Job, counters []Counter) error {
	n, groups := len(j.CounterNames), make(map[string]bool)
	for _, c := range counters {
		if err := errors.Join(
			checkCounterName(c.Name, "counter", "mapreduce.job.counters.counter.name.max"),
			checkCounterName(c.Group, "group of counters", "mapreduce.job.counters.group.name.max"),
		); err != nil {
			return err
		}
		if _, known := j.nameIndex[c.CounterName]; !known {
			n++
			groups[c.Group] = true
		}
	}
	if n == len(j.CounterNames) {
		return nil
	}
	for _, name := range j.CounterNames {
		groups[name.Group] = true
	}
	if most := j.MostCounters(tx.Limits); n > most {
		return fmt.Errorf("%d counters of the job in all: mapreduce.job.counters.limit is %d; count under fewer names (never under names taken from the data) or raise the limit", n, most-engineCounters)
	}
	if most := cmp.Or(j.Spec.MaxCounterGroups, tx.Limits.CounterGroups); len(groups) > most+engineCounterGroups {
		return fmt.Errorf("%d groups of counters of the job in all: mapreduce.job.counters.groups.max is %d; count in fewer groups (never in groups named by the data) or raise the limit", len(groups), most)
	}
	return nil
}

// checkCounterName checks the length of the name of a counter or a group.
func checkCounterName(name, what, property string) error {
	if len(name) <= maxCounterBytes {
		return nil
	}
	return fmt.Errorf("%s %q: a name of %d bytes, and %s is at most %d", what, shorten(name), len(name), property, maxCounterBytes)
}

// MostCounters returns how many counters the job may have, with those of the engine.
func (j *Job) MostCounters(limits Limits) int {
	return cmp.Or(j.Spec.MaxCounters, limits.Counters) + engineCounters
}

// checkCheckpoint checks the checkpoint of an attempt.
func (p taskRef) checkCheckpoint(c Checkpoint) error {
	if err := errors.Join(checkPath(c.Path), checkBytes(c.Bytes)); err != nil || c.Copy == nil {
		return err
	}
	return errors.Join(checkBytes(c.Copy.Bytes), p.checkBelow(c.Copy.Path, path.Join(checkpointsName, p.attempt.ID.String())))
}
