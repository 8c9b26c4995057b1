// Package randomwriter writes random bytes as SequenceFiles of BytesWritable, as input for
// other programs. It is Hadoop's RandomWriter.
//
//	hammr run randomwriter -D mapreduce.randomwriter.totalbytes=1000000 out
//
// The amount follows from the properties mapreduce.randomwriter.totalbytes, .bytespermap and
// .mapsperhost, the size of records from .minkey, .maxkey, .minvalue and .maxvalue, in
// bytes. The property .seed, default 0, chooses the data. The same properties give the same
// data in each run.
package randomwriter

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/hammr/hammr/mr"
)

const name = "randomwriter"

// defaults are Hadoop's; sizes are in bytes.
var defaults = Amount{MinKey: 10, MaxKey: 1000, MinValue: 0, MaxValue: 20000}

// appendBytes appends n random bytes.
func appendBytes(dst []byte, random *rand.Rand, n int) []byte {
	end := len(dst) + n
	for len(dst) < end {
		dst = binary.LittleEndian.AppendUint64(dst, random.Uint64())
	}
	return dst[:end]
}

// Job writes the blocks.
var Job = mr.WithConfig(mr.MapOnly(name,
	mr.Numbers(Blocks(name)),
	&Records{Counters: "org.apache.hadoop.examples.RandomWriter$Counters", Append: appendBytes},
	mr.SequenceOutput(mr.BytesWritable, mr.BytesWritable),
), defaults)

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    name,
		Summary: "A map/reduce program that writes 10GB of random data per node.",
		Usage:   "<out-dir>",
		Jobs:    []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			if len(d.Args) != 1 {
				return mr.ErrUsage
			}
			return Run(ctx, d, Job, d.Args[0], name, "", defaults)
		},
	}
}
