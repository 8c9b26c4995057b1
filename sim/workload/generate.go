package workload

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// Streams of random numbers, one for each quantity: changing one distribution does not
// change what the others draw.
const (
	// Appending a stream keeps the others; inserting one changes the workloads of all
	// seeds.
	streamMix = iota
	streamArrival
	streamMaps
	streamReduces
	streamMapTime
	streamReduceTime
	streamMapBytes
	streamReduceBytes
	streams
)

// generator draws the jobs of a spec. Each quantity has its own stream of random numbers.
type generator struct {
	spec  *Spec
	model *Model
	*collector
	random [streams]*rand.Rand
}

// Generate draws the jobs, with the seed of the spec, or else the seed of the options'
// Model. Equal seeds give equal workloads. The line in an error is the number of a job,
// since a spec has no lines of jobs.
func (s *Spec) Generate(o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	g := &generator{spec: s, model: &o.Model, collector: newCollector("spec", o.MaxTasks)}
	seed := o.Model.Seed
	if s.HasSeed {
		seed = s.Seed
	}
	for i := range g.random {
		g.random[i] = rand.New(rand.NewPCG(seed, uint64(i)))
	}
	if err := g.generate(); err != nil {
		return nil, err
	}
	return g.workload()
}

// generate draws jobs until an error or the last one. The line of an error is the number of
// the job.
func (g *generator) generate() error {
	order := g.order()
	if !g.allowTasks(1, int64(len(order))) {
		return g.err()
	}
	// Ids have leading zeros, so that they sort in the order of arrival.
	width := len(strconv.Itoa(len(order)))
	at, burst := 0.0, max(1, g.spec.Burst)
	for i, class := range order {
		if i > 0 && i%burst == 0 {
			// A time beyond the limit becomes one that Validate reports.
			at = min(at+g.spec.Arrival.draw(g.random[streamArrival]), MaxMillis+1)
		}
		j := Job{ID: fmt.Sprintf("job%0*d", width, i+1), Submit: wholeMillis(at), SlowStart: g.spec.SlowStart, Class: class.Name}
		if g.spec.Pools > 0 {
			j.Pool = fmt.Sprintf("pool%d", i%g.spec.Pools+1)
		}
		if !g.tasks(i+1, &j, class) {
			break
		}
		g.addJob(i+1, j)
	}
	return g.err()
}

// order lists the class of each job: all classes, shuffled. Shuffling mixes classes as a
// trace does; the numbers of jobs are exact.
func (g *generator) order() []*Class {
	var order []*Class
	for i := range g.spec.Classes {
		c := &g.spec.Classes[i]
		for range min(c.Jobs, g.limit+1) {
			order = append(order, c)
		}
	}
	if len(g.spec.Classes) > 1 {
		g.random[streamMix].Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
	return order
}

// tasks draws the tasks of a job. It returns false if there would be too many. Bytes are
// drawn first, because the Model computes times from them unless the class has
// distributions of times.
func (g *generator) tasks(n int, j *Job, c *Class) bool {
	maps := max(1, g.count(c.Maps, streamMaps))
	reduces := g.count(c.Reduces, streamReduces)
	if !g.allowTasks(n, maps+reduces) {
		return false
	}
	j.Maps, j.Reduces = make([]Task, maps), make([]Task, reduces)
	g.bytesOf(j.Maps, c.MapBytes, streamMapBytes)
	g.bytesOf(j.Reduces, c.ReduceBytes, streamReduceBytes)
	g.model.fillTimes(j.ID, 'm', j.Maps, g.model.BlockTime)
	g.model.fillTimes(j.ID, 'r', j.Reduces, g.model.ReduceBlockTime)
	g.timesOf(j.Maps, c.Map, streamMapTime)
	g.timesOf(j.Reduces, c.Reduce, streamReduceTime)
	return true
}

// count draws an integer, small enough that two can be added.
func (g *generator) count(l Distribution, stream int) int64 {
	return int64(math.Round(min(l.draw(g.random[stream]), MaxTasks+1)))
}

// bytesOf draws the bytes of each task.
func (g *generator) bytesOf(tasks []Task, l Distribution, stream int) {
	for i := range tasks {
		tasks[i].Bytes = int64(math.Round(min(l.draw(g.random[stream]), MaxBytes)))
	}
}

// timesOf leaves times unchanged if there is no distribution for them. timesOf draws the
// time of each task.
func (g *generator) timesOf(tasks []Task, l Distribution, stream int) {
	for i := range tasks {
		if l.kind != nil {
			tasks[i].Millis = wholeMillis(l.draw(g.random[stream]))
		}
	}
}

// maxSpec limits the length of a spec, in bytes.
const maxSpec = 64 << 10

// readSpec parses a spec and draws its jobs. The name of the workload is the source.
func readSpec(r io.Reader, source string, o Options) (*Workload, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSpec+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if len(text) > maxSpec {
		return nil, fmt.Errorf("%s: a spec of more than %d bytes, which is the limit", source, maxSpec)
	}
	s, err := ParseSpec(source, string(text))
	if err != nil {
		return nil, err
	}
	w, err := s.Generate(o)
	if err != nil {
		return nil, err
	}
	w.Name = source
	return w, nil
}
