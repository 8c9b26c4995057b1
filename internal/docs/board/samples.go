package board

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// OtherPools is the name of the series that has the sums of the pools without a series of their own.
// It is not the name of a pool, which has no parentheses.
const OtherPools = "(other)"

// maxSeries bounds the pools with a series of their own. A series takes at most 250 kB, so all of them
// take at most 17 MB.
const maxSeries = 64

// levels are the intervals of samples, and how many of each are kept: 10 minutes, 2 hours, 24 hours.
var levels = [...]struct {
	step int64 // ms
	most int
}{{1_000, 600}, {10_000, 720}, {60_000, 1440}}

// samples are the series of a Board. Sample adds to them each second.
type samples struct {
	last    int64                     // start of the latest second that was sampled
	pools   map[string]*series        // "" is the whole cluster
	pending map[string]*apidoc.Sample // kept, lost and launched since the latest sample, by pool
	current map[string]*apidoc.Sample // of the second that is sampled; empty between two calls
}

// series are the samples of a pool, by level.
type series struct {
	rings  [len(levels)]ring
	active int64 // start of the latest sample that is not zero
}

// ring has the latest samples of a level.
type ring struct {
	rows  []apidoc.Sample // if it is full, first is the oldest
	first int
	open  apidoc.Sample // sums of the interval that is not over
	n     int           // samples in open
}

func newSamples() samples {
	return samples{pools: make(map[string]*series), pending: make(map[string]*apidoc.Sample), current: make(map[string]*apidoc.Sample)}
}

// of returns an element of a map of samples, which it adds if it is missing.
func of(m map[string]*apidoc.Sample, pool string) *apidoc.Sample {
	s := m[pool]
	if s == nil {
		s = new(apidoc.Sample)
		m[pool] = s
	}
	return s
}

// count adds what a stage has launched, kept and lost since its row was last updated.
func (s *samples) count(pool string, was, now *StageRow) {
	if was.Launched == now.Launched && was.Preemption == now.Preemption {
		return
	}
	p := of(s.pending, pool)
	p.Kept += seconds(now.Preemption.KeptMillis - was.Preemption.KeptMillis)
	p.Lost += seconds(now.Preemption.LostMillis - was.Preemption.LostMillis)
	all, node, rack := increase(was.Launched, now.Launched), increase(was.LocalStarts, now.LocalStarts), increase(was.RackStarts, now.RackStarts)
	elsewhere := &p.Launches.Any
	if now.Source {
		elsewhere = &p.Launches.Other
	}
	*elsewhere += all - min(all, node+rack)
	p.Launches.Node, p.Launches.Rack = p.Launches.Node+node, p.Launches.Rack+rack
}

func seconds(millis int64) float64 { return float64(max(0, millis)) / 1000 }

func increase(was, now int) uint32 { return uint32(max(0, now-was)) }

// Sample adds a sample of each pool and of the cluster at a time, in ms since the epoch. Shares are
// the fair shares of pools in slots, nil if this master does not know them. Callers call it once a
// second or more often; further calls in a second have no effect. Its cost is linear in jobs and
// their stages.
func (b *Board) Sample(at int64, shares map[string][2]float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.mu.samples
	at -= at % levels[0].step
	if at <= s.last {
		return
	}
	s.last = at
	for pool, p := range s.pending {
		*of(s.current, pool) = *p
	}
	clear(s.pending)
	for _, j := range b.mu.jobs {
		if j.State.Final() {
			continue
		}
		p := of(s.current, j.Pool)
		for _, stage := range j.stages {
			add(&p.Running, stage.Used())
			add(&p.Waiting, stage.Slots.Times(stage.Waiting))
		}
	}
	all, other := apidoc.Sample{At: at}, apidoc.Sample{At: at}
	for pool, p := range s.current {
		p.At, p.Share = at, shareOf(shares[pool])
		all.Add(p)
		if !s.put(pool, p) {
			other.Add(p)
		}
	}
	all.Share = shareOf([2]float64{float64(b.mu.capacity[0]), float64(b.mu.capacity[1])})
	s.put("", &all)
	s.put(OtherPools, &other)
	s.addIdle(at, shares)
	clear(s.current)
}

// addIdle adds samples of pools that have series and no jobs, and removes series that have been zero
// for as long as samples are kept.
func (s *samples) addIdle(at int64, shares map[string][2]float64) {
	last := levels[len(levels)-1]
	for pool, p := range s.pools {
		if s.current[pool] != nil || pool == "" || pool == OtherPools {
			continue
		}
		if at-p.active > last.step*int64(last.most) {
			delete(s.pools, pool)
			continue
		}
		p.add(&apidoc.Sample{At: at, Share: shareOf(shares[pool])})
	}
}

// put adds a sample to the series of a pool. It returns false if the pool has none because there are
// too many.
func (s *samples) put(pool string, p *apidoc.Sample) bool {
	r := s.pools[pool]
	if r == nil {
		if zero := (apidoc.Sample{At: p.At}); pool == OtherPools && *p == zero {
			return true
		}
		if len(s.pools) >= maxSeries && pool != "" && pool != OtherPools {
			return false
		}
		r = new(series)
		s.pools[pool] = r
	}
	r.active = p.At
	r.add(p)
	return true
}

func (r *series) add(p *apidoc.Sample) {
	for i := range r.rings {
		r.rings[i].add(p, levels[i].step, levels[i].most)
	}
}

// add adds a sample to the open interval. A sample of another interval closes the open one first.
func (r *ring) add(p *apidoc.Sample, step int64, most int) {
	start := p.At - p.At%step
	if r.n > 0 && r.open.At != start {
		r.push(mean(r.open, r.n), most)
		r.open, r.n = apidoc.Sample{}, 0
	}
	r.open.At = start
	r.open.Add(p)
	r.n++
}

func (r *ring) push(row apidoc.Sample, most int) {
	if len(r.rows) < most {
		r.rows = append(r.rows, row)
		return
	}
	r.rows[r.first] = row
	r.first = (r.first + 1) % most
}

// mean divides the slots of a sum of n samples.
func mean(s apidoc.Sample, n int) apidoc.Sample {
	for _, slots := range []*apidoc.Share{&s.Running, &s.Waiting, &s.Share} {
		slots.Map, slots.Reduce = slots.Map/float64(n), slots.Reduce/float64(n)
	}
	return s
}

func shareOf(slots [2]float64) apidoc.Share { return apidoc.Share{Map: slots[0], Reduce: slots[1]} }

func add(to *apidoc.Share, slots cluster.Slots) {
	*to = to.Plus(shareOf([2]float64{float64(slots[0]), float64(slots[1])}))
}

// Series returns the names of the series, sorted: "" for the whole cluster, OtherPools if it has one,
// and pools that have had jobs in the last 24 hours.
func (b *Board) Series() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	names := make([]string, 0, len(b.mu.samples.pools))
	for name := range b.mu.samples.pools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Samples returns the samples of a series from a time on, in ms since the epoch, the oldest first.
// Each covers an interval of used ms: step, rounded up to a multiple of the intervals that are kept.
// Intervals without samples are missing: the master did not run then. There are none for an unknown
// series.
func (b *Board) Samples(name string, from, step int64) (out []apidoc.Sample, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	level := levelOf(b.mu.samples.last-from, step)
	kept := levels[level].step
	step = max(kept, (step+kept-1)/kept*kept)
	p := b.mu.samples.pools[name]
	if p == nil {
		return nil, step
	}
	n := 0
	r := &p.rings[level]
	for i := range r.rows {
		row := &r.rows[(r.first+i)%len(r.rows)]
		start := row.At - row.At%step
		if start < from {
			continue
		}
		if len(out) == 0 || out[len(out)-1].At != start {
			if len(out) > 0 {
				out[len(out)-1] = mean(out[len(out)-1], n)
			}
			out, n = append(out, apidoc.Sample{At: start}), 0
		}
		out[len(out)-1].Add(row)
		n++
	}
	if len(out) > 0 {
		out[len(out)-1] = mean(out[len(out)-1], n)
	}
	return out, step
}

// levelOf returns the coarsest level whose intervals fit into step, or the first coarser one that
// goes back far enough.
func levelOf(span, step int64) int {
	level := 0
	for level+1 < len(levels) && (levels[level+1].step <= step || span > levels[level].step*int64(levels[level].most)) {
		level++
	}
	return level
}
