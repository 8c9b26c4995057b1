package transfer

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/local"
)

// benchDir is in memory where the system has such a place, so that disks are not
// what is measured.
func benchDir(b *testing.B) string {
	if dir, err := os.MkdirTemp("/dev/shm", "transfer"); err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return b.TempDir()
}

// benchOutput is the segments of an output with one run of about each of sizes,
// in bytes.
func benchOutput(b *testing.B, sizes []int) (segments []Segment, x *shuffle.Index) {
	dir := benchDir(b)
	c, err := shuffle.NewSortBuffer(context.Background(), shuffle.Options{
		FS: local.New(local.Options{}), Path: filepath.Join(dir, testJob, "m", "map.out"),
		Partitions: len(sizes), Memory: 600 << 20,
		Partition: func(key []byte) int { return int(binary.BigEndian.Uint16(key)) },
	})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 1000)
	for p, size := range sizes {
		for i := range size >> 10 {
			key := binary.BigEndian.AppendUint16(nil, uint16(p))
			c.Emit(binary.BigEndian.AppendUint32(key, uint32(i)), value)
		}
	}
	if x, err = c.Finish(context.Background()); err != nil {
		b.Fatal(err)
	}
	address := benchServe(b, dir)
	for p := range sizes {
		segments = append(segments, Segment{Task: int32(p), Partition: p, Output: Output{
			Address: address, Job: testJob, Attempt: "m", File: "map.out", IndexChecksum: x.Checksum,
		}})
	}
	return segments, x
}

// benchServe serves a directory as a tasknode does and returns the address.
func benchServe(b *testing.B, dir string) string {
	s, err := NewServer(ServerConfig{Dirs: []string{dir}, Token: testToken})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return l.Addr().String()
}

// discard verifies nothing and keeps nothing: what is left is the network.
type discard struct{ buf []byte }

func (d *discard) AddRemote(ctx context.Context, runs []shuffle.Run, _ shuffle.Ordinal, open shuffle.OpenRun) error {
	for _, run := range runs {
		body, err := open(ctx, run)
		if err != nil {
			return err
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{body}, d.buf); err != nil {
			return err
		}
		if err := body.Close(); err != nil {
			return err
		}
	}
	return nil
}

// benchSegments are 256 MiB in segments of usual sizes.
var benchSegments = []struct {
	name  string
	sizes []int
}{
	{"64MiB", slices.Repeat([]int{64 << 20}, 4)},
	{"16MiB", slices.Repeat([]int{16 << 20}, 16)},
	{"mixed", slices.Repeat([]int{15 << 20, 256 << 10, 256 << 10, 256 << 10, 256 << 10}, 16)},
}

// BenchmarkStream is one stream over the loopback, from the page cache of a
// tasknode. An op is 256 MiB, fetched one segment after the other:
//
//   - memory: into a reduce's memory that has been in use, as it is once the
//     reduce has spilled, or follows another one
//   - fresh: into memory that the system has to provide first
//   - disk: through memory into files
//   - network: to nowhere, unverified
//
// cpu-s/GB is the processor time of both ends, in seconds for 10⁹ bytes.
// Opening and closing the reduce's intake does not count.
func BenchmarkStream(b *testing.B) {
	for _, s := range benchSegments {
		b.Run("memory/"+s.name, func(b *testing.B) { benchIntake(b, s.sizes, 2<<30, func() {}) })
	}
	for _, s := range benchSegments {
		b.Run("fresh/"+s.name, func(b *testing.B) { benchIntake(b, s.sizes, 2<<30, releaseAll) })
	}
	sizes := benchSegments[0].sizes
	b.Run("disk", func(b *testing.B) { benchIntake(b, sizes, 1<<20, func() {}) })
	b.Run("network", func(b *testing.B) {
		sink := &discard{make([]byte, 256<<10)}
		benchStream(b, sizes, func(b *testing.B) (Sink, func() error) {
			return sink, func() error { return nil }
		})
	})
}

// releaseAll gives all unused memory back to the system.
func releaseAll() {
	shuffle.ReleaseMemory()
	debug.FreeOSMemory()
}

// benchIntake measures copies into new intakes; before is called ahead of each.
func benchIntake(b *testing.B, sizes []int, memory int64, before func()) {
	dir := filepath.Join(benchDir(b), "in")
	benchStream(b, sizes, func(b *testing.B) (Sink, func() error) {
		before()
		in, err := shuffle.NewIntake(shuffle.IntakeOptions{FS: local.New(local.Options{}), Dir: dir, Memory: memory})
		if err != nil {
			b.Fatal(err)
		}
		return in, in.Close
	})
}

// benchStream measures copies into what open returns, after one that does not
// count.
func benchStream(b *testing.B, sizes []int, open func(b *testing.B) (sink Sink, done func() error)) {
	segments, x := benchOutput(b, sizes)
	f := NewFetcher(FetcherConfig{Token: testToken})
	defer f.Close()
	var used time.Duration
	copyAll := func() {
		sink, done := open(b)
		b.StartTimer()
		start := processorTime(b)
		for _, s := range segments {
			if _, err := f.Fetch(context.Background(), s, sink); err != nil {
				b.Fatal(err)
			}
		}
		used += processorTime(b) - start
		b.StopTimer()
		if err := done(); err != nil {
			b.Fatal(err)
		}
	}
	copyAll()
	used = 0
	b.SetBytes(x.DataLength)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		copyAll()
	}
	b.ReportMetric(used.Seconds()*1e9/float64(x.DataLength)/float64(b.N), "cpu-s/GB")
}

// processorTime is what this process has used so far, in user and kernel.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
