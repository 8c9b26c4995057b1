// Package randomwriter writes random bytes as SequenceFiles, for other programs
// to work on. The amount is set as with Hadoop's randomwriter, by the
// properties mapreduce.randomwriter.totalbytes, .bytespermap, .mapsperhost,
// .minkey, .maxkey, .minvalue and .maxvalue; beside them .seed (0) chooses the
// data, which are the same each time.
package randomwriter

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/hammr/hammr/examples/internal/amount"
	"github.com/hammr/hammr/mr"
)

const name = "randomwriter"

// defaults are Hadoop's; sizes are in bytes.
var defaults = amount.Amount{MinKey: 10, MaxKey: 1000, MinValue: 0, MaxValue: 20000}

// write makes a block of records for each number it is given.
type write struct {
	amount         *amount.Amount
	bytes, records *mr.Counter
	key, value     []byte
}

// Setup implements mr.Setup.
func (w *write) Setup(t *mr.Task) error {
	const group = "org.apache.hadoop.examples.RandomWriter$Counters"
	w.amount = mr.ConfigOf[amount.Amount](t)
	w.bytes, w.records = t.Counter(group, "BYTES_WRITTEN"), t.Counter(group, "RECORDS_WRITTEN")
	return nil
}

// Map implements mr.Mapper.
func (w *write) Map(_ *mr.Task, block int64, _ struct{}, out mr.Emitter[[]byte, []byte]) error {
	a := w.amount
	random, left := a.Block(block)
	for left > 0 {
		w.key = fill(w.key, random, amount.Between(random, a.MinKey, a.MaxKey))
		w.value = fill(w.value, random, amount.Between(random, a.MinValue, a.MaxValue))
		out.Emit(w.key, w.value)
		n := int64(len(w.key) + len(w.value))
		w.bytes.Add(n)
		w.records.Add(1)
		left -= max(n, 1)
	}
	return nil
}

// fill makes dst n random bytes long.
func fill(dst []byte, random *rand.Rand, n int) []byte {
	dst = dst[:0]
	for len(dst) < n {
		dst = binary.LittleEndian.AppendUint64(dst, random.Uint64())
	}
	return dst[:n]
}

// Job writes the blocks.
var Job = mr.WithConfig(mr.MapOnly(name,
	mr.Numbers(amount.Blocks(name)),
	&write{},
	mr.SequenceOutput(mr.BytesWritable, mr.BytesWritable),
), defaults)

// Program is the command.
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
			return amount.Run(ctx, d, Job, d.Args[0], name, "", defaults)
		},
	}
}
