// Package grep counts the matches of a regular expression. It is a chain of two jobs, as
// Hadoop's Grep: the first counts the matches, the second sorts them by their counts.
//
//	to be or              2	be
//	not to be     ──>     2	to
//
//	hammr run grep in out '[bt][eo]'
package grep

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// Search is the configuration of the first job: what to search for. The driver sets it, and
// each task decodes it.
type Search struct {
	Regex string // in RE2's syntax
	Group int    // group whose text is counted; 0 is the whole match
}

// Validate reports whether the expression has this group.
func (s *Search) Validate() error {
	re, err := regexp.Compile(s.Regex)
	if err != nil {
		return err
	}
	if s.Group < 0 || s.Group > re.NumSubexp() {
		return fmt.Errorf("group %d of a regular expression with %d groups", s.Group, re.NumSubexp())
	}
	return nil
}

// matcher emits each match of a line. Setup sets its fields, so each attempt has fields of
// its own.
type matcher struct {
	re    *regexp.Regexp
	group int
}

// Setup implements mr.Setup. It compiles the expression once per attempt.
func (m *matcher) Setup(t *mr.Task) (err error) {
	search := mr.ConfigOf[Search](t)
	m.group = search.Group
	m.re, err = regexp.Compile(search.Regex)
	return err
}

// Map implements mr.Mapper. It emits a part of line without a copy, since Emit copies it. A
// group that took no part in a match has no offsets and is not counted.
func (m *matcher) Map(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	for _, found := range m.re.FindAllSubmatchIndex(line, -1) {
		if from, to := found[2*m.group], found[2*m.group+1]; from >= 0 {
			out.Emit(line[from:to], 1)
		}
	}
	return nil
}

// Count counts how often each match occurs.
var Count = mr.WithConfig(mr.New("grep-search",
	mr.TextLines(),
	&matcher{},
	mr.Sum[[]byte, int64](),
	mr.SequenceOutput(mr.Text, mr.LongWritable),
).Combine(mr.Sum[[]byte, int64]()), Search{})

// rank orders matches by count, the greatest first, then by their bytes.
// Both components are part of the key, so the sort of the shuffle does all the work.
type rank = mr.Pair[mr.Desc[int64], []byte]

type nothing = struct{}

// Sort writes counts and matches in order of rank. TotalOrder makes the order hold over all
// output files, however many reduces there are.
var Sort = mr.New("grep-sort",
	mr.SequenceFile(mr.Text, mr.LongWritable),
	mr.MapFunc(func(_ *mr.Task, match []byte, count int64, out mr.Emitter[rank, nothing]) error {
		out.Emit(rank{First: mr.Desc[int64]{Value: count}, Second: match}, nothing{})
		return nil
	}),
	mr.ReduceFunc(func(_ *mr.Task, r rank, _ iter.Seq[nothing], out mr.Emitter[int64, []byte]) error {
		out.Emit(r.First.Value, r.Second)
		return nil
	}),
	mr.TextOutput[int64, []byte](),
).TotalOrder()

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "grep",
		Summary: "A map/reduce program that counts the matches of a regex in the input.",
		Usage:   "<inDir> <outDir> <regex> [<group>]",
		Jobs:    []mr.Runnable{Count, Sort},
		Run:     run,
	}
}

// run checks everything before the first job starts, so that hours of counting are not lost to
// a wrong argument. TempDir is removed when the program ends, in any case.
func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 3 || len(d.Args) > 4 {
		return mr.ErrUsage
	}
	in, out, search := d.Args[0], d.Args[1], Search{Regex: d.Args[2]}
	if len(d.Args) == 4 {
		group, err := strconv.Atoi(d.Args[3])
		if err != nil {
			return fmt.Errorf("%w: group %q is not a number", mr.ErrUsage, d.Args[3])
		}
		search.Group = group
	}
	if err := search.Validate(); err != nil {
		return fmt.Errorf("%w: %w", mr.ErrUsage, err)
	}
	if err := d.CheckOutput(ctx, []string{in}, out); err != nil {
		return err
	}
	counts := d.TempDir(out)
	if err := d.Run(ctx, Count, mr.JobRun{In: []string{in}, Out: counts, Config: search}); err != nil {
		return err
	}
	return d.Run(ctx, Sort, mr.JobRun{In: []string{counts}, Out: out})
}
