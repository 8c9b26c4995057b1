package transfer

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

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

// benchOutput is an output with one run of 256 MiB, and its server's address.
func benchOutput(b *testing.B) (Segment, *shuffle.Index) {
	dir := benchDir(b)
	c, err := shuffle.NewSortBuffer(context.Background(), shuffle.Options{
		FS: local.New(local.Options{}), Path: filepath.Join(dir, testJob, "m", "map.out"), Partitions: 1, Memory: 600 << 20,
	})
	if err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 1000)
	for i := range 256 << 10 {
		key := []byte{byte(i >> 16), byte(i >> 8), byte(i)}
		c.Emit(key, value)
	}
	x, err := c.Finish(context.Background())
	if err != nil {
		b.Fatal(err)
	}
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
	return Segment{Output: Output{
		Address: l.Addr().String(), Job: testJob, Attempt: "m", File: "map.out", IndexChecksum: x.Checksum,
	}}, x
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

// BenchmarkStream is one stream over the loopback: into memory, into a file, and
// to nowhere. An op is a run of 256 MiB.
func BenchmarkStream(b *testing.B) {
	for name, memory := range map[string]int64{"memory": 4 << 30, "disk": 1 << 20, "network alone": 0} {
		b.Run(name, func(b *testing.B) {
			segment, x := benchOutput(b)
			f := NewFetcher(FetcherConfig{Token: testToken})
			defer f.Close()
			b.SetBytes(x.DataLength)
			b.ReportAllocs()
			for b.Loop() {
				if memory == 0 {
					fetch(b, f, segment, &discard{make([]byte, 256<<10)})
					continue
				}
				in, err := shuffle.NewIntake(shuffle.IntakeOptions{
					FS: local.New(local.Options{}), Dir: filepath.Join(benchDir(b), "in"), Memory: memory,
				})
				if err != nil {
					b.Fatal(err)
				}
				fetch(b, f, segment, in)
				if err := in.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fetch(b *testing.B, f *Fetcher, s Segment, sink Sink) {
	if _, err := f.Fetch(context.Background(), s, sink); err != nil {
		b.Fatal(err)
	}
}
