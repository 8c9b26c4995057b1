// Package broadcastjoin joins two inputs by their keys as join does, but sends only the
// smaller input. All of the smaller input is in memory, in a hash table, wherever rows of the
// larger input are read. Hadoop calls this a map-side join.
//
//	small ──broadcast──┐
//	big ═════shm══════> join ──file──> sort
//
//	hammr run broadcastjoin small big out
//
// The output has the same bytes as the output of join. With -unsorted it has the order of the
// larger input, and no record is shuffled.
package broadcastjoin

import (
	"context"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// Config chooses the order of the output.
type Config struct {
	Unsorted bool // leave the output in the order of the larger input
}

// Job reads lines of key, tab and value. For each pair of lines that have the same key it
// writes the key, the small value and the big value.
var Job = mr.Define("broadcastjoin", Config{}, func(g *mr.Graph, c Config) {
	small := mr.Read(g, "small", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]()).Broadcast()
	big := mr.Read(g, "big", mr.KeyValueText(), mr.IdentityMapper[[]byte, []byte]())
	joined := mr.With(mr.Each(g, "join", &joiner{small: small}, big.Pipe()), small)
	if !c.Unsorted {
		joined = mr.Group(g, "sort", mr.IdentityReducer[[]byte, []byte](), joined.Shuffle())
	}
	mr.Write(joined, mr.TextOutput[[]byte, []byte]())
})

// joiner looks up the key of each big row among the small rows.
type joiner struct {
	small *mr.Side[[]byte, []byte]
	rows  *mr.Lookup[[]byte, []byte]
	both  []byte // scratch for the values of a pair of rows
}

// Setup implements mr.Setup.
func (j *joiner) Setup(t *mr.Task) error {
	j.rows = j.small.Lookup(t)
	return nil
}

// Ahead implements mr.LooksAhead.
func (j *joiner) Ahead(key, _ []byte) { j.rows.Ahead(key) }

// Map implements mr.Mapper.
func (j *joiner) Map(_ *mr.Task, key, value []byte, out mr.Emitter[[]byte, []byte]) error {
	for small := range j.rows.All(key) {
		j.both = append(append(append(j.both[:0], small...), '\t'), value...)
		out.Emit(key, j.both)
	}
	return nil
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "broadcastjoin",
		Summary: "A program that joins a small input and a large one by their keys, with the small one in memory.",
		Usage:   "[-unsorted] <small in> <big in> <out>",
		Jobs:    []mr.Runnable{Job},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	var c Config
	known := arguments.Options{"-unsorted": arguments.Do(func() error { c.Unsorted = true; return nil })}
	args, err := known.Parse(d.Args)
	if err != nil {
		return err
	}
	if len(args) != 3 {
		return mr.ErrUsage
	}
	return d.Run(ctx, Job, mr.JobRun{In: args[:2], Out: args[2], Config: c})
}
