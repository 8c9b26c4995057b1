// Package amount works out, from Hadoop's properties, how much a program that
// makes random data is to write, and deals it out in blocks. A block is made
// from the seed and its number alone, so the data do not depend on the number
// of maps.
package amount

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// blockBytes is the size of a block, unless a map is to write less.
const blockBytes = 1 << 20

// mapsPerHost and bytesPerMap are Hadoop's defaults.
const (
	mapsPerHost = 10
	bytesPerMap = 1 << 30
)

// Amount is what to write: part of a job's configuration.
type Amount struct {
	Seed       uint64
	TotalBytes int64
	BlockBytes int64
	MinKey     int // of a key's size, in the program's units
	MaxKey     int // the size is below it, unless it equals MinKey
	MinValue   int
	MaxValue   int
}

// Blocks is the property that holds the number of blocks, for mr.Numbers.
func Blocks(program string) string { return "mapreduce." + program + ".blocks" }

// Run runs job, which makes the blocks of an Amount. Fields of defaults that
// the user has set properties for are changed; unit follows "min" and "max" in
// the properties' names.
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

// plan sets the bytes to write and returns the number of maps that write them.
// One machine is counted, the one that the engine runs on.
func (a *Amount) plan(p *properties) (maps int64) {
	perMap := max(p.number("bytespermap", bytesPerMap), 1)
	a.TotalBytes = p.number("totalbytes", p.number("mapsperhost", mapsPerHost)*perMap)
	a.BlockBytes = min(blockBytes, perMap)
	return max(a.TotalBytes/perMap, 1)
}

// Block is the random numbers and the size in bytes of a block.
func (a *Amount) Block(n int64) (*rand.Rand, int64) {
	return rand.New(rand.NewPCG(a.Seed, uint64(n))), min(a.BlockBytes, a.TotalBytes-n*a.BlockBytes)
}

// Between is a random number from least up to, but not including, most; least
// when they are equal.
func Between(r *rand.Rand, least, most int) int {
	if most <= least {
		return least
	}
	return least + r.IntN(most-least)
}

// properties reads numbers that the user may have set.
type properties struct {
	driver *mr.Driver
	prefix string
	err    error // the first
}

func (p *properties) number(name string, otherwise int64) int64 {
	text := p.driver.Property(p.prefix + name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		p.fault("%s=%s: expected a whole number of at least 0", name, text)
	}
	return n
}

// bounds reads a least and a greatest size.
func (p *properties) bounds(of string, least, most *int) {
	*least = int(p.number("min"+of, int64(*least)))
	*most = int(p.number("max"+of, int64(*most)))
	if *least > *most {
		p.fault("min%s=%d: above max%[1]s=%[3]d", of, *least, *most)
	}
}

func (p *properties) fault(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(p.prefix+format, args...)
	}
}
