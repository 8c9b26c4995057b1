// Package randomtextwriter writes random sentences, for other programs to work
// on: as SequenceFiles of Text and Text, or as lines with -outFormat
// TextOutputFormat. The amount is set as with Hadoop's randomtextwriter, by the
// properties mapreduce.randomtextwriter.totalbytes, .bytespermap, .mapsperhost,
// .minwordskey, .maxwordskey, .minwordsvalue and .maxwordsvalue; beside them
// .seed (0) chooses the sentences, which are the same each time.
package randomtextwriter

import (
	"context"
	"fmt"
	"strings"

	"github.com/hammr/hammr/examples/internal/amount"
	"github.com/hammr/hammr/mr"
)

const name = "randomtextwriter"

// defaults are Hadoop's; sizes are in words.
var defaults = amount.Amount{MinKey: 5, MaxKey: 10, MinValue: 10, MaxValue: 100}

// write makes a block of sentences for each number it is given.
type write struct {
	amount         *amount.Amount
	bytes, records *mr.Counter
	key, value     []byte
}

// Setup implements mr.Setup.
func (w *write) Setup(t *mr.Task) error {
	const group = "org.apache.hadoop.examples.RandomTextWriter$Counters"
	w.amount = mr.ConfigOf[amount.Amount](t)
	w.bytes, w.records = t.Counter(group, "BYTES_WRITTEN"), t.Counter(group, "RECORDS_WRITTEN")
	return nil
}

// Map implements mr.Mapper.
func (w *write) Map(_ *mr.Task, block int64, _ struct{}, out mr.Emitter[[]byte, []byte]) error {
	a := w.amount
	random, left := a.Block(block)
	for left > 0 {
		w.key = appendSentence(w.key[:0], random, amount.Between(random, a.MinKey, a.MaxKey))
		w.value = appendSentence(w.value[:0], random, amount.Between(random, a.MinValue, a.MaxValue))
		out.Emit(w.key, w.value)
		n := int64(len(w.key) + len(w.value))
		w.bytes.Add(n)
		w.records.Add(1)
		left -= max(n, 1)
	}
	return nil
}

func newJob(name string, format mr.Output[[]byte, []byte]) *mr.Job[[]byte, []byte, []byte, []byte] {
	job := mr.MapOnly(name, mr.Numbers(amount.Blocks("randomtextwriter")), &write{}, format)
	return mr.WithConfig(job, defaults)
}

// The jobs differ in how they write.
var (
	Sequences = newJob(name, mr.SequenceOutput(mr.Text, mr.Text))
	Lines     = newJob(name+"-lines", mr.TextOutput[[]byte, []byte]())
)

// Program is the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    name,
		Summary: "A map/reduce program that writes 10GB of random textual data per node.",
		Usage:   "[-outFormat <output format class>] <output>",
		Jobs:    []mr.Runnable{Sequences, Lines},
		Run:     run,
	}
}

func run(ctx context.Context, d *mr.Driver) error {
	job, args := Sequences, d.Args
	if len(args) > 1 && args[0] == "-outFormat" {
		switch class := args[1]; class[strings.LastIndexByte(class, '.')+1:] {
		case "SequenceFileOutputFormat":
		case "TextOutputFormat":
			job = Lines
		default:
			return fmt.Errorf("%w: output format %s: SequenceFileOutputFormat and TextOutputFormat are known", mr.ErrUsage, class)
		}
		args = args[2:]
	}
	if len(args) != 1 {
		return mr.ErrUsage
	}
	return amount.Run(ctx, d, job, args[0], name, "words", defaults)
}
