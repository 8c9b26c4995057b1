package transfer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// gather waits until the copier has copied each task's output exactly once.
func gather(t testing.TB, c *Copier, tasks int) {
	t.Helper()
	taken := map[int32]bool{}
	for len(taken) < tasks {
		<-c.Ready()
		for _, r := range c.Take() {
			switch {
			case r.Err == nil && taken[r.Segment.Task]:
				t.Fatalf("task %d taken in twice", r.Segment.Task)
			case r.Err == nil:
				taken[r.Segment.Task] = true
			case !r.WillRetry:
				t.Fatal(r.Err)
			}
		}
	}
}

// TestCopierOutputIsIndependentOfArrival injects network faults and random delays. The merged
// bytes equal those of a merge of the local files.
func TestCopierOutputIsIndependentOfArrival(t *testing.T) {
	const nodes, mapsPerNode = 3, 3
	r := rand.New(rand.NewPCG(3, 3))
	var cluster []*testMachine
	var outputs []*mapOutput
	for i := range nodes {
		cluster = append(cluster, newTestMachine(t, ServerConfig{}))
		for j := range mapsPerNode {
			outputs = append(outputs, cluster[i].write(t, r, int32(i*mapsPerNode+j), 1+r.IntN(6000), 2))
		}
	}
	want := []string{readHere(t, 0, outputs...), readHere(t, 1, outputs...)}
	for seed := range testlevel.Seeds(8, 72) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			var addresses []string
			for i, n := range cluster {
				every := []int{2, 5, 20, 1 << 30}[r.IntN(4)]
				addresses = append(addresses, listen(t, faulty{n.server, injectAtRandom(seed+uint64(i), every)}))
			}
			partition := int(seed % 2)
			in := newIntake(t, []int64{64 << 10, 400 << 10, 64 << 20}[r.IntN(3)])
			c := NewCopier(context.Background(), CopierConfig{
				Fetcher: newFetcher(t, FetcherConfig{Sources: &Sources{BytesPerServer: 10_000}}),
				Sink:    in, Parallel: 1 + r.IntN(6),
				MinDelay: time.Microsecond, MaxDelay: time.Millisecond,
			})
			defer c.Close()
			for _, i := range r.Perm(len(outputs)) {
				c.Add(partOf(outputs[i].at(addresses[i/mapsPerNode]), partition))
			}
			gather(t, c, len(outputs))
			if readIntake(t, in) != want[partition] {
				t.Fatal("the bytes differ")
			}
		})
	}
}

// TestCopierStopsAnywhere closes a copier early. The sink then has exactly the outputs that
// Take has returned.
func TestCopierStopsAnywhere(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	r := rand.New(rand.NewPCG(5, 5))
	var outputs []*mapOutput
	for i := range 6 {
		outputs = append(outputs, n.write(t, r, int32(i), 3000, 1))
	}
	for seed := range testlevel.Seeds(8, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			address := listen(t, faulty{n.server, injectAtRandom(seed, 4)})
			in := newIntake(t, 200<<10)
			c := NewCopier(context.Background(), CopierConfig{
				Fetcher: newFetcher(t, FetcherConfig{}), Sink: in, MinDelay: time.Microsecond, MaxDelay: time.Millisecond,
			})
			for _, o := range outputs {
				c.Add(o.at(address))
			}
			var taken []*mapOutput
			take := func() {
				for _, result := range c.Take() {
					if result.Err == nil {
						taken = append(taken, outputs[result.Segment.Task])
					}
				}
			}
			for len(taken) < int(seed%5) {
				<-c.Ready()
				take()
			}
			c.Close()
			take()
			if readIntake(t, in) != readHere(t, 0, taken...) {
				t.Fatalf("the sink does not hold the %d outputs that were named", len(taken))
			}
		})
	}
}

func TestCopierGivesUp(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	c := NewCopier(context.Background(), CopierConfig{
		Fetcher: newFetcher(t, FetcherConfig{}), Sink: newIntake(t, 1<<20),
		GiveUpAfter: time.Nanosecond, MinDelay: time.Microsecond, MaxDelay: time.Microsecond,
	})
	defer c.Close()
	c.Add(m.at(listen(t, faulty{n.server, always(hangUp)})))
	for {
		<-c.Ready()
		for _, r := range c.Take() {
			if r.WillRetry {
				continue
			}
			if !errors.As(r.Err, new(*LostError)) {
				t.Errorf("error %v", r.Err)
			}
			return
		}
	}
}

func TestCopierReportsABadSink(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	full := errors.New("disk full")
	c := NewCopier(context.Background(), CopierConfig{Fetcher: newFetcher(t, FetcherConfig{}), Sink: badSink{full}})
	defer c.Close()
	c.Add(m.at(listen(t, n.server)))
	<-c.Ready()
	if r := c.Take(); len(r) != 1 || r[0].Err != full || r[0].WillRetry {
		t.Errorf("results %+v", r)
	}
}
