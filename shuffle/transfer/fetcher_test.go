package transfer

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// fetchFrom fetches partition 0 of a map's output through a network with faults.
func fetchFrom(t *testing.T, n *testMachine, m *mapOutput, choose func(*http.Request) fault) (*shuffle.Intake, error) {
	t.Helper()
	in := newIntake(t, 1<<20)
	f := newFetcher(t, FetcherConfig{})
	_, err := f.Fetch(context.Background(), m.at(listen(t, faulty{n.server, choose})), in)
	return in, err
}

func TestFetchOutlivesOneFault(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 1)
	want := readHere(t, 0, m)
	for name, choose := range map[string]func(*http.Request) fault{
		"none": always(sound), "damaged run": always(damaged), "cut run": always(cut), "broken": always(broken),
		"damaged index": onIndex(damaged), "cut index": onIndex(cut),
	} {
		in, err := fetchFrom(t, n, m, first(1, choose))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if readIntake(t, in) != want {
			t.Errorf("%s: other records", name)
		}
	}
	if c := n.server.Counts(); c.Verified != 0 {
		t.Errorf("the disk was asked about %d times", c.Verified)
	}
}

// TestFetchBlamesTheNetwork injects permanent damage on the way. The source verifies its
// disk, so the output is not lost.
func TestFetchBlamesTheNetwork(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 1)
	for name, choose := range map[string]func(*http.Request) fault{
		"damaged run": always(damaged), "cut run": always(cut), "broken": always(broken), "damaged index": onIndex(damaged),
	} {
		before := n.server.Counts().Verified
		_, err := fetchFrom(t, n, m, choose)
		var fault *FetchError
		if !errors.As(err, &fault) || errors.As(err, new(*LostError)) || fault.damaged {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n.server.Counts().Verified != before+1 || !strings.Contains(err.Error(), "disk is good") {
			t.Errorf("%s: the source was not asked: %v", name, err)
		}
		if text := err.Error(); !strings.Contains(text, "map.out") || !strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: %v names no host or file", name, err)
		}
	}
}

// TestFetchBlamesTheDisk damages files on disk. The source verifies them, and the output is
// lost.
func TestFetchBlamesTheDisk(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, m *mapOutput){
		"run":       func(t *testing.T, m *mapOutput) { flip(t, m.path(), m.index.Partitions[0][1].Offset+99) },
		"index":     func(t *testing.T, m *mapOutput) { flip(t, shuffle.IndexPath(m.path()), 40) },
		"cut file":  func(t *testing.T, m *mapOutput) { remove(t, os.Truncate(m.path(), m.index.DataLength-1)) },
		"no file":   func(t *testing.T, m *mapOutput) { remove(t, os.Remove(m.path())) },
		"no index":  func(t *testing.T, m *mapOutput) { remove(t, os.Remove(shuffle.IndexPath(m.path()))) },
		"other map": func(_ *testing.T, m *mapOutput) { m.segment.Output.IndexChecksum++ },
	} {
		n := newTestMachine(t, ServerConfig{})
		m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 1)
		damage(t, m)
		in, err := fetchFrom(t, n, m, always(sound))
		var lost *LostError
		if !errors.As(err, &lost) || lost.Output.Attempt != m.segment.Output.Attempt {
			t.Errorf("%s: %v", name, err)
		}
		if in.Stats().Segments != 0 {
			t.Errorf("%s: the intake has %d segments", name, in.Stats().Segments)
		}
	}
}

func remove(t *testing.T, err error) {
	t.Helper()
	must.Do(t, err)
}

func TestFetchFromMissingServer(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	f := newFetcher(t, FetcherConfig{IdleTimeout: 20 * time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	l.Close()
	for name, address := range map[string]string{"silent": unresponsiveAddress(t), "gone": l.Addr().String(), "no address": ""} {
		_, err := f.Fetch(context.Background(), m.at(address), newIntake(t, 1<<20))
		var fault *FetchError
		if !errors.As(err, &fault) || fault.damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFetchFromBusyAndRefusingServers(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	if _, err := fetchFrom(t, n, m, always(busy)); !errors.As(err, new(*BusyError)) {
		t.Errorf("busy: %v", err)
	}
	f := NewFetcher(FetcherConfig{Token: "another"})
	defer f.Close()
	_, err := f.Fetch(context.Background(), m.at(listen(t, n.server)), newIntake(t, 1<<20))
	if err == nil || errors.As(err, new(*FetchError)) || errors.As(err, new(*LostError)) || !strings.Contains(err.Error(), "token") {
		t.Errorf("wrong token: %v", err)
	}
	f = newFetcher(t, FetcherConfig{})
	if _, err := f.Fetch(context.Background(), partOf(m.at(listen(t, n.server)), 5), newIntake(t, 1<<20)); err == nil || errors.As(err, new(*LostError)) {
		t.Errorf("partition that is not there: %v", err)
	}
}

// badSink is a Sink that fails every AddRemote.
type badSink struct{ err error }

func (s badSink) AddRemote(context.Context, []shuffle.Run, shuffle.Ordinal, shuffle.OpenRun) error {
	return s.err
}

func TestFetchIntoABadSink(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	f := newFetcher(t, FetcherConfig{})
	full := errors.New("disk full")
	if _, err := f.Fetch(context.Background(), m.at(listen(t, n.server)), badSink{full}); err != full {
		t.Errorf("error %v", err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	f := newFetcher(t, FetcherConfig{})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	address := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel(enough)
		<-r.Context().Done()
	}))
	if _, err := f.Fetch(ctx, m.at(address), newIntake(t, 1<<20)); err != enough {
		t.Errorf("error %v", err)
	}
}

// TestCredit checks that at most the credit's bytes are in flight for each server. A longer
// run is fetched alone.
func TestCredit(t *testing.T) {
	s := &Sources{BytesPerServer: 100}
	ctx := context.Background()
	giveBack, err := s.borrow(ctx, "a", 1000)
	must.Do(t, err)
	ended, cancel := context.WithCancelCause(ctx)
	cancel(io.ErrClosedPipe)
	if _, err := s.borrow(ended, "a", 1); err != io.ErrClosedPipe {
		t.Errorf("more than the credit: %v", err)
	}
	other, err := s.borrow(ctx, "b", 100)
	must.Do(t, err)
	giveBack()
	other()
	for range 2 {
		if _, err := s.borrow(ctx, "a", 50); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.borrow(ended, "a", 1); err != io.ErrClosedPipe {
		t.Errorf("more than the credit: %v", err)
	}
}

// TestCreditIsReturned injects faults of every kind. Afterwards the whole credit is
// available.
func TestCreditIsReturned(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 1)
	sources := &Sources{BytesPerServer: 1000}
	f := newFetcher(t, FetcherConfig{Sources: sources})
	address := listen(t, faulty{n.server, injectAtRandom(7, 2)})
	for range 30 {
		_, _ = f.Fetch(context.Background(), m.at(address), newIntake(t, 1<<20)) // the faults are intended
	}
	credit, limit := sources.credit(address)
	if !credit.TryAcquire(limit) {
		t.Error("credit is missing")
	}
}

func TestIndexIsFetchedOnce(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 1000, 3)
	indexes := 0
	address := listen(t, faulty{n.server, func(r *http.Request) fault {
		if strings.HasSuffix(r.URL.Path, ".index") {
			indexes++
		}
		return sound
	}})
	sources := new(Sources)
	for p := range 3 {
		f := newFetcher(t, FetcherConfig{Sources: sources})
		if _, err := f.Fetch(context.Background(), partOf(m.at(address), p), newIntake(t, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if indexes != 1 {
		t.Errorf("%d times", indexes)
	}
}

func TestIndexCacheIsBounded(t *testing.T) {
	var c indexCache
	x := &shuffle.Index{Partitions: make([][]shuffle.Run, 100)}
	c.mu.limit = 3 * indexBytes(x)
	loads := 0
	get := func(name string) {
		if _, err := c.get(name, func() (*shuffle.Index, error) { loads++; return x, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c", "a", "d", "a", "b"} { // d evicts b
		get(name)
	}
	if loads != 5 || c.mu.bytes > c.mu.limit || len(c.mu.byName) != 3 || c.mu.order.Len() != 3 {
		t.Errorf("%d loads, %d entries of %d bytes", loads, len(c.mu.byName), c.mu.bytes)
	}
	c.remove("a")
	c.remove("a")
	if get("a"); loads != 6 {
		t.Errorf("%d loads", loads)
	}
	if _, err := c.get("z", func() (*shuffle.Index, error) { return nil, storage.ErrCorrupt }); err != storage.ErrCorrupt {
		t.Errorf("error %v", err)
	}
}
