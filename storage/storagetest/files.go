package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/hammr/hammr/storage"
)

// writeAndRead writes files in pieces of growing length and reads them whole. The sizes lie
// around the thresholds at which file systems change their behaviour:
//
//	0              a file without blocks
//	1, 4096        less than a buffer; a page
//	64 KiB + 3     a packet of HDFS, and a little more
//	3 MiB + 17     many packets, more than one chunk of read-ahead
//
// Create makes the missing parents. After Close, Stat must return the full length at once,
// since the commit compares it with the length that the task has counted.
func (s suite) writeAndRead() {
	for _, size := range []int{0, 1, 4096, 64<<10 + 3, 3<<20 + 17} {
		name := fmt.Sprintf("missing/parents/%d", size)
		data := Pattern(size)
		w, err := s.fs.Create(s.ctx(), s.path(name), storage.CreateOptions{})
		s.must(err)
		for rest, n := data, 1; len(rest) > 0; n = n*3 + 1 {
			n = min(n, len(rest))
			if got, err := w.Write(rest[:n]); err != nil || got != n {
				s.t.Fatalf("write of %d bytes: %d, %v", n, got, err)
			}
			rest = rest[n:]
		}
		s.must(w.Close())
		s.wantData(name, data)
		info, err := s.fs.Stat(s.ctx(), s.path(name))
		s.must(err)
		if info.Size != int64(size) || info.IsDir {
			s.t.Errorf("stat of %d bytes: %+v", size, info)
		}
	}
}

// readAt reads at many offsets at the same time, as several readers of one file of map
// output do. A ReadAt beyond the end returns the available bytes and io.EOF, as io.ReaderAt
// requires. A negative offset is an error; an offset behind the end reads nothing.
func (s suite) readAt() {
	data := Pattern(200_000)
	s.write("f", data)
	f, err := s.fs.Open(s.ctx(), s.path("f"))
	s.must(err)
	defer f.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			buf := make([]byte, 1000+i)
			for at := i * 777; at+len(buf) <= len(data); at += 20_011 {
				if n, err := f.ReadAt(buf, int64(at)); n != len(buf) || (err != nil && err != io.EOF) {
					s.t.Errorf("ReadAt(%d bytes, %d): %d, %v", len(buf), at, n, err)
				} else if !bytes.Equal(buf, data[at:at+n]) {
					s.t.Errorf("ReadAt(%d) returned other bytes", at)
				}
			}
		})
	}
	wg.Wait()
	buf := make([]byte, 100)
	if n, err := f.ReadAt(buf, int64(len(data)-40)); n != 40 || err != io.EOF || !bytes.Equal(buf[:n], data[len(data)-40:]) {
		s.t.Errorf("ReadAt over the end: %d, %v", n, err)
	}
	if n, err := f.ReadAt(buf, int64(len(data)+5)); n != 0 || err != io.EOF {
		s.t.Errorf("ReadAt behind the end: %d, %v", n, err)
	}
	if _, err := f.ReadAt(buf, -1); err == nil {
		s.t.Error("ReadAt(-1) gives no error")
	}
}

// seek moves forward, back, and relative to each whence, and reads there. A split begins
// with a seek to its start. At the end of the file a read returns nothing. A negative offset
// is an error.
func (s suite) seek() {
	data := Pattern(10_000)
	s.write("f", data)
	f, err := s.fs.Open(s.ctx(), s.path("f"))
	s.must(err)
	defer f.Close()
	for _, c := range []struct {
		offset int64
		whence int
		want   int64
	}{
		{500, io.SeekStart, 500}, {-100, io.SeekEnd, 9900}, {0, io.SeekStart, 0},
		{7, io.SeekCurrent, 17}, {0, io.SeekEnd, 10_000},
	} {
		got, err := f.Seek(c.offset, c.whence)
		if err != nil || got != c.want {
			s.t.Fatalf("Seek(%d, %d): %d, %v; want %d", c.offset, c.whence, got, err, c.want)
		}
		buf := make([]byte, 10)
		n, err := io.ReadFull(f, buf)
		if want := data[c.want:min(c.want+10, 10_000)]; !bytes.Equal(buf[:n], want) {
			s.t.Errorf("after Seek to %d: read %d bytes, %v", c.want, n, err)
		}
	}
	if _, err := f.Seek(-1, io.SeekStart); err == nil {
		s.t.Error("Seek(-1) gives no error")
	}
}

// openRefuses opens a missing file and a directory. The first error must be fs.ErrNotExist,
// which callers treat as an answer. The second may be any error; some operating systems
// report it only when the directory is read.
func (s suite) openRefuses() {
	_, err := s.fs.Open(s.ctx(), s.path("none"))
	s.wantErr(err, fs.ErrNotExist, "none")
	s.must(s.fs.MkdirAll(s.ctx(), s.path("dir")))
	_, err = s.fs.Open(s.ctx(), s.path("dir"))
	s.wantErr(err, nil, "dir")
}

// createRefuses creates in the ways that must fail:
//
//	over a file or a directory    fs.ErrExist, and the file keeps its bytes
//	below a file                  any error
//
// Nothing may be replaced: two attempts of a task, or two jobs with one output directory, must
// not overwrite each other. The error must name the file that the caller asked for.
func (s suite) createRefuses() {
	s.write("f", []byte("kept"))
	_, err := s.fs.Create(s.ctx(), s.path("f"), storage.CreateOptions{})
	s.wantErr(err, fs.ErrExist, "f")
	s.wantData("f", []byte("kept"))
	s.must(s.fs.MkdirAll(s.ctx(), s.path("dir")))
	_, err = s.fs.Create(s.ctx(), s.path("dir"), storage.CreateOptions{})
	s.wantErr(err, fs.ErrExist, "dir")
	_, err = s.fs.Create(s.ctx(), s.path("f/below"), storage.CreateOptions{})
	s.wantErr(err, nil, "f")
	_, err = s.fs.Create(s.ctx(), s.path("none/f"), storage.CreateOptions{NoParents: true})
	s.wantErr(err, fs.ErrNotExist, "none/f")
	s.wantMissing("none")
	w, err := s.fs.Create(s.ctx(), s.path("dir/f"), storage.CreateOptions{NoParents: true})
	s.must(err)
	s.must(w.Close())
}

// createAtOnce lets several writers create the same name at the same time, in a directory
// that does not exist yet. Exactly one succeeds, and the others get fs.ErrExist.
func (s suite) createAtOnce() {
	const writers = 6
	var wg sync.WaitGroup
	won := make(chan storage.Writer, writers)
	for range writers {
		wg.Go(func() {
			w, err := s.fs.Create(s.ctx(), s.path("new/one"), storage.CreateOptions{})
			if err == nil {
				won <- w
			} else if !errors.Is(err, fs.ErrExist) {
				s.t.Errorf("create: %v", err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		s.t.Fatalf("%d writers created the file", len(won))
	}
	s.must((<-won).Close())
}

// abort ends writers before, during and after their work:
//
//	Create, Abort                  no file
//	Create, Write, Abort, Abort    no file; the second Abort has no effect
//	Create, Write, Close, Abort    the whole file, so callers may defer Abort
//
// An aborted name can be used again.
func (s suite) abort() {
	create := func(name string) storage.Writer {
		w, err := s.fs.Create(s.ctx(), s.path(name), storage.CreateOptions{})
		s.must(err)
		return w
	}
	s.must(create("empty").Abort())
	s.wantMissing("empty")

	w := create("part")
	_, err := w.Write(Pattern(100_000))
	s.must(err)
	s.must(w.Abort())
	s.wantMissing("part")
	s.must(w.Abort())

	w = create("whole")
	_, err = w.Write([]byte("data"))
	s.must(err)
	s.must(w.Close())
	s.must(w.Abort())
	s.wantData("whole", []byte("data"))

	s.write("part", []byte("again"))
	s.wantData("part", []byte("again"))
}

// private compares the modes of files with and without CreateOptions.Private. Histories and logs
// quote what users have in their records and properties.
func (s suite) private() {
	for name, opts := range map[string]storage.CreateOptions{"new/open": {}, "new/private": {Private: true}} {
		w, err := s.fs.Create(s.ctx(), s.path(name), opts)
		s.must(err)
		s.must(w.Close())
		info, err := s.fs.Stat(s.ctx(), s.path(name))
		s.must(err)
		if others := info.Mode.Perm()&0o007 != 0; others == opts.Private || info.Mode.Perm()&^0o644 != 0 {
			s.t.Errorf("mode of %s: %04o", name, info.Mode.Perm())
		}
	}
}
