// Package streamcount counts words as wordcount does, but streams the words from the stage
// that finds them to the stage that counts them. The Nodes of both stages are a gang that
// runs at the same time, so a word is sent as soon as it is found.
//
//	lines ──file──> tokenise ~~tcp~~> count
//
// A gang needs slots for all of its Nodes at once. The input may have any number of splits,
// so the stage that reads them is not in the gang: it distributes the lines over a few
// Nodes.
//
//	hammr run streamcount -D streamcount.tokenisers=4 in out
package streamcount

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

// Tokenisers is the property for the number of Nodes that split lines into words.
const Tokenisers = "streamcount.tokenisers"

// Config sets the width of the gang. The number of counting Nodes is
// mapreduce.job.reduces.
type Config struct {
	Tokenisers int
}

// Validate reports a width that is not positive.
func (c *Config) Validate() error {
	if c.Tokenisers < 1 {
		return fmt.Errorf("%d tokenisers; expected at least 1", c.Tokenisers)
	}
	return nil
}

// Job writes the same bytes as wordcount.
var Job = mr.Define("streamcount", Config{Tokenisers: 2}, func(g *mr.Graph, c Config) {
	lines := mr.Read(g, "lines", mr.TextLines(), mr.IdentityMapper[int64, []byte]())
	words := mr.Each(g, "tokenise", mr.MapFunc(wordcount.Tokenise), lines.Shuffle()).Nodes(c.Tokenisers).Slots(dag.SlotMap)
	count := mr.Group(g, "count", mr.Sum[[]byte, int64](), words.Stream(mr.AllToAll))
	mr.Write(count, mr.TextOutput[[]byte, int64]())
})

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "streamcount",
		Summary: "A program that counts words in a graph whose stages stream to each other.",
		Usage:   "[-D " + Tokenisers + "=<n>] <in> [<in>...] <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	if len(d.Args) < 2 {
		return mr.ErrUsage
	}
	last := len(d.Args) - 1
	run := mr.JobRun{In: d.Args[:last], Out: d.Args[last]}
	if text := d.Property(Tokenisers); text != "" {
		n, err := arguments.Count(Tokenisers, text)
		if err != nil {
			return err
		}
		run.Config = Config{Tokenisers: n}
	}
	return d.Run(ctx, Job, run)
}
