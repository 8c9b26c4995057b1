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

// benchDir returns a directory in memory if the system has /dev/shm, so that the benchmark
// does not measure disks.
func benchDir(b *testing.B) string {
	if dir, err := os.MkdirTemp("/dev/shm", "transfer"); err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return b.TempDir()
}

// benchOutput writes an output with one run for each of sizes, in bytes and approximate. It
// returns the segments.
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
			Address: address, Job: testJob, Attempt: "attempt_1_0001_m_000000_0", File: "map.out", IndexChecksum: x.Checksum,
		}})
	}
	return segments, x
}

// benchServe serves a directory as a tasknode does and returns the address.
func benchServe(b *testing.B, dir string) string {
	s, err := NewServer(ServerConfig{Dirs: []string{dir}, Key: testKey})
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

// discard is a Sink that drops all data without verification, so that only the network is
// measured.
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

// benchSegments lists common segment sizes, 256 MiB in total for each.
var benchSegments = []struct {
	name  string
	sizes []int
}{
	{"64MiB", slices.Repeat([]int{64 << 20}, 4)},
	{"16MiB", slices.Repeat([]int{16 << 20}, 16)},
	{"mixed", slices.Repeat([]int{15 << 20, 256 << 10, 256 << 10, 256 << 10, 256 << 10}, 16)},
}

// BenchmarkStream measures one stream over the loopback interface, from the page cache of a
// tasknode. One op fetches 256 MiB, one segment after the other:
//
//   - memory: into memory that the reduce has used before, as after a spill
//     or after another reduce of the process
//   - fresh: into memory that the system must provide first
//   - disk: through memory into files
//   - network: data is dropped without verification
//
// cpu-s/GB is the processor time of both ends, in seconds for each 10⁹ bytes. The time to
// open and close the reduce's intake is excluded.
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

// releaseAll returns all unused memory to the system.
func releaseAll() {
	shuffle.ReleaseMemory()
	debug.FreeOSMemory()
}

// benchIntake measures copies into new intakes. It calls before ahead of each copy.
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

// benchStream measures copies into the sinks that open returns. The first copy warms up and
// is not counted.
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

// processorTime returns the user and kernel time that this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
