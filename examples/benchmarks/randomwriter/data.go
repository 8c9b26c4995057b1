package randomwriter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// blockBytes is the size of a block, unless a map is to write less.
const blockBytes = 1 << 20

// Hadoop's defaults: 10 GiB on each host.
const (
	mapsPerHost = 10
	bytesPerMap = 1 << 30
)

// Amount says how much to write. It is the configuration of the jobs, here and in
// randomtextwriter. The data is divided into blocks, each determined by the seed and its
// number alone:
//
//	number of the block ──> random generator (seed, number) ──> records until the block is full
//
// So the data does not depend on the number of maps, and an attempt that runs again writes the
// same bytes.
type Amount struct {
	Seed       uint64
	TotalBytes int64
	BlockBytes int64 // the last block may be shorter
	MinKey     int   // least size of a key, in the program's units
	MaxKey     int   // sizes are below it, unless it equals MinKey
	MinValue   int
	MaxValue   int
}

// Blocks returns the name of the property with the number of blocks, for mr.Numbers.
func Blocks(program string) string { return "mapreduce." + program + ".blocks" }

// Run runs a job that writes the blocks of an Amount. It starts from defaults and replaces
// the fields whose properties the user has set. unit follows "min" and "max" in the names of
// the properties: "words" for mapreduce.randomtextwriter.minwordskey.
func Run(ctx context.Context, d *mr.Driver, job mr.Runnable, out, program, unit string, defaults Amount) error {
	p := properties{driver: d, prefix: "mapreduce." + program + "."}
	a := defaults
	p.bounds(unit+"key", &a.MinKey, &a.MaxKey)
	p.bounds(unit+"value", &a.MinValue, &a.MaxValue)
	a.Seed = uint64(p.number("seed", 0))
	maps := a.plan(&p)
	if p.err != nil {
		return fmt.Errorf("%w: %w", mr.ErrUsage, p.err)
	}
	return d.Run(ctx, job, mr.JobRun{Out: out, Config: a, Set: map[string]string{
		Blocks(program):      fmt.Sprint((a.TotalBytes + a.BlockBytes - 1) / a.BlockBytes),
		"mapreduce.job.maps": fmt.Sprint(maps),
	}})
}

// plan sets the bytes to write and returns the number of maps that write them. Hadoop
// multiplies by the number of tasktrackers; here one host counts, whatever the cluster.
func (a *Amount) plan(p *properties) (maps int64) {
	perMap := max(p.number("bytespermap", bytesPerMap), 1)
	a.TotalBytes = p.number("totalbytes", p.number("mapsperhost", mapsPerHost)*perMap)
	a.BlockBytes = min(blockBytes, perMap)
	return max(a.TotalBytes/perMap, 1)
}

// Records is the mapper. It writes the records of each block whose number it gets.
type Records struct {
	Counters string // group of the counters, named after an enum of Hadoop's program

	// Append appends n units of random data to dst, which is empty: bytes or words.
	Append func(dst []byte, random *rand.Rand, n int) []byte

	amount         *Amount
	bytes, records *mr.Counter
	key, value     []byte // buffers; Emit copies them
}

// Setup implements mr.Setup.
func (r *Records) Setup(t *mr.Task) error {
	r.amount = mr.ConfigOf[Amount](t)
	r.bytes, r.records = t.Counter(r.Counters, "BYTES_WRITTEN"), t.Counter(r.Counters, "RECORDS_WRITTEN")
	return nil
}

// Map implements mr.Mapper. The last record of a block may exceed the block. A record
// without bytes counts as one byte, so that the loop ends.
func (r *Records) Map(_ *mr.Task, block int64, _ struct{}, out mr.Emitter[[]byte, []byte]) error {
	a := r.amount
	random := rand.New(rand.NewPCG(a.Seed, uint64(block)))
	for left := min(a.BlockBytes, a.TotalBytes-block*a.BlockBytes); left > 0; {
		r.key = r.Append(r.key[:0], random, between(random, a.MinKey, a.MaxKey))
		r.value = r.Append(r.value[:0], random, between(random, a.MinValue, a.MaxValue))
		out.Emit(r.key, r.value)
		n := int64(len(r.key) + len(r.value))
		r.bytes.Add(n)
		r.records.Add(1)
		left -= max(n, 1)
	}
	return nil
}

// between returns a random number from least up to, but not including, most; least if they
// are equal, without drawing a number.
func between(r *rand.Rand, least, most int) int {
	if most <= least {
		return least
	}
	return least + r.IntN(most-least)
}

// properties reads numbers that the user may have set.
type properties struct {
	driver *mr.Driver
	prefix string
	err    error // the first error
}

// number returns a property, or the value otherwise if the property is not set.
func (p *properties) number(name string, otherwise int64) int64 {
	text := p.driver.Property(p.prefix + name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		p.addErr("%s=%s: expected a whole number of at least 0", name, text)
	}
	return n
}

// bounds reads a least and a greatest size.
func (p *properties) bounds(of string, least, most *int) {
	*least = int(p.number("min"+of, int64(*least)))
	*most = int(p.number("max"+of, int64(*most)))
	if *least > *most {
		p.addErr("min%s=%d: above max%[1]s=%[3]d", of, *least, *most)
	}
}

func (p *properties) addErr(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(p.prefix+format, args...)
	}
}
