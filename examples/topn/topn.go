// Package topn lists the most frequent words. Its first job counts the words, and its second
// job ranks them by these counts.
//
//	the cat the dog   ──>   the	2
//	                        cat	1
//
//	hammr run topn 2 in out
package topn

import (
	"context"
	"iter"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

// Count is the job of wordcount with a SequenceFile as output, which the next job reads.
var Count = wordcount.Job.WithOutput(mr.SequenceOutput(mr.Text, mr.LongWritable))

// Config sets the number of words to list.
type Config struct{ N int }

type nothing = struct{}

// rank orders words by count, the greatest first, then by their bytes. The first component
// is empty, so all ranks are one group.
type rank = mr.Triple[nothing, mr.Desc[int64], string]

// entry is a line of the list. It repeats the content of the key, because the reducer gets
// only the first key of a group.
type entry = mr.Pair[string, int64]

// List writes the first N words in order of rank.
var List = mr.WithConfig(mr.New("topn",
	mr.SequenceFile(mr.TextString, mr.LongWritable),
	mr.MapFunc(func(_ *mr.Task, word string, n int64, out mr.Emitter[rank, entry]) error {
		out.Emit(rank{Second: mr.Desc[int64]{Value: n}, Third: word}, entry{First: word, Second: n})
		return nil
	}),
	mr.ReduceFunc(func(t *mr.Task, _ rank, entries iter.Seq[entry], out mr.Emitter[string, int64]) error {
		left := mr.ConfigOf[Config](t).N
		for e := range entries {
			out.Emit(e.First, e.Second)
			if left--; left == 0 {
				break
			}
		}
		return nil
	}),
	mr.TextOutput[string, int64](),
), Config{N: 10}).GroupFirst().Reduces(1)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "topn",
		Summary: "A map/reduce program that lists the n most frequent words of the input files.",
		Usage:   "<n> <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Count, List},
		Run:     run,
	}
}

// run chains the jobs. CheckOutput comes first, so that the counting is not lost if the list
// cannot be written.
func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 3 {
		return mr.ErrUsage
	}
	n, err := arguments.Count("n", d.Args[0])
	if err != nil {
		return err
	}
	last := len(d.Args) - 1
	in, out := d.Args[1:last], d.Args[last]
	if err := d.CheckOutput(ctx, in, out); err != nil {
		return err
	}
	counts := d.TempDir(out)
	if err := d.Run(ctx, Count, mr.JobRun{In: in, Out: counts}); err != nil {
		return err
	}
	return d.Run(ctx, List, mr.JobRun{In: []string{counts}, Out: out, Config: Config{N: n}})
}
