// Package randomtextwriter writes random sentences as input for other programs: as
// SequenceFiles of Text, or as lines of key, tab and value. It is Hadoop's RandomTextWriter.
//
//	hammr run randomtextwriter -D mapreduce.randomtextwriter.totalbytes=1000000 \
//		-outFormat TextOutputFormat out
//
// A line of its output:
//
//	noha rifilo loralavi zewe foluve najihosa	kofilowa dirizo valuve …
//
// The amount follows from the properties mapreduce.randomtextwriter.totalbytes, .bytespermap
// and .mapsperhost, the length of sentences from .minwordskey, .maxwordskey, .minwordsvalue
// and .maxwordsvalue. The property .seed, default 0, chooses the sentences. The same
// properties give the same sentences in each run.
package randomtextwriter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/hammr/hammr/examples/benchmarks/randomwriter"
	"github.com/hammr/hammr/mr"
)

const name = "randomtextwriter"

// defaults are Hadoop's; sizes are in words.
var defaults = randomwriter.Amount{MinKey: 5, MaxKey: 10, MinValue: 10, MaxValue: 100}

// vocabulary is a thousand different words of two to four syllables.
var vocabulary = sync.OnceValue(func() *[1000]string {
	words := new([1000]string)
	for i := range words {
		// 7919 has no factor in common with 10,000, so no two words begin with
		// the same two syllables.
		n := i * 7919 % 10_000
		words[i] = syllable(n/100) + syllable(n%100)
		for j := range i % 3 {
			words[i] += syllable((i + 37*j) % 100)
		}
	}
	return words
})

// syllable returns one of a hundred syllables: a consonant and a vowel.
func syllable(n int) string {
	const consonants, vowels = "bcdfghjklmnprstvwxyz", "aeiou"
	return consonants[n/5:n/5+1] + vowels[n%5:n%5+1]
}

// appendSentence appends n random words with spaces between them.
func appendSentence(dst []byte, random *rand.Rand, n int) []byte {
	words := vocabulary()
	for i := range n {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, words[random.IntN(len(words))]...)
	}
	return dst
}

func newJob(job string, format mr.Output[[]byte, []byte]) *mr.Job[[]byte, []byte, []byte, []byte] {
	writer := &randomwriter.Records{Counters: "org.apache.hadoop.examples.RandomTextWriter$Counters", Append: appendSentence}
	return mr.WithConfig(mr.MapOnly(job, mr.Numbers(randomwriter.Blocks(name)), writer, format), defaults)
}

// The jobs differ in the format of their output.
var (
	Sequences = newJob(name, mr.SequenceOutput(mr.Text, mr.Text))
	Lines     = newJob(name+"-lines", mr.TextOutput[[]byte, []byte]())
)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    name,
		Summary: "A map/reduce program that writes 10GB of random textual data per node.",
		Usage:   "[-outFormat <output format class>] <output>",
		Jobs:    []mr.Runnable{Sequences, Lines},
		Run:     run,
	}
}

// run chooses the job by the class name that Hadoop's program takes, with or without its
// package.
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
	return randomwriter.Run(ctx, d, job, args[0], name, "words", defaults)
}
