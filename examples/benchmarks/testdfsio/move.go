package testdfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/hammr/hammr/mr"
)

// transfer writes or reads size bytes of a file through a buffer and returns the number of
// bytes transferred. After each buffer it calls seen with the number of bytes done; an error
// of seen ends the transfer.
type transfer func(t *mr.Task, file string, size int64, buffer []byte, seen func(done int64) error) (int64, error)

// measured returns the mapper that moves the file of each record, and emits the numbers that
// are added up over all files. It times only the transfer itself, not the start of the task.
// It emits under five keys, so each of the five sums has one group.
func measured(move transfer) mr.Mapper[[]byte, []byte, string, float64] {
	return mr.MapFunc(func(t *mr.Task, name, bytes []byte, out mr.Emitter[string, float64]) error {
		c := mr.ConfigOf[Config](t)
		size, err := strconv.ParseInt(string(bytes), 10, 64)
		if err != nil {
			return fmt.Errorf("control file: size of %s: %w", name, err)
		}
		seen := watch(t, string(name), size)
		buffer := newBuffer(c.BufferSize)
		began := time.Now()
		n, err := move(t, c.Data+"/"+string(name), size, buffer, seen)
		if err != nil {
			return err
		}
		took := time.Since(began)
		t.Log().Info("file transferred", "file", string(name), "bytes", n, "took", took)
		for name, value := range sumsOf(n, took) {
			out.Emit(name, value)
		}
		return nil
	})
}

// watch returns a function that shows the progress of a file in Hadoop's words, and ends the
// transfer with the attempt. Without it, a map that is killed would first move its whole
// file.
func watch(t *mr.Task, name string, size int64) func(done int64) error {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return func(done int64) error {
		t.SetStatus("%s@%d/%d ::host = %s", name, done, size, host)
		return context.Cause(t.Context())
	}
}

// newBuffer returns a buffer with the bytes that Hadoop writes: the fifty characters from
// '0' on, repeated.
func newBuffer(size int) []byte {
	buffer := make([]byte, size)
	for i := range buffer {
		buffer[i] = byte('0' + i%50)
	}
	return buffer
}

// write makes a file. It first removes a file of that name, which a failed attempt may have
// left. Two attempts of one task at the same time would disturb each other, as with Hadoop.
// After an error, Abort removes the file.
func write(t *mr.Task, file string, size int64, buffer []byte, seen func(int64) error) (int64, error) {
	if err := t.Remove(file); err != nil {
		return 0, err
	}
	w, err := t.Create(file)
	if err != nil {
		return 0, err
	}
	if err = fill(w, size, buffer, seen); err == nil {
		err = w.Close()
	}
	if err != nil {
		return 0, errors.Join(err, w.Abort())
	}
	return size, nil
}

// fill writes size bytes from the buffer, over and over. It reports progress after each write.
func fill(w io.Writer, size int64, buffer []byte, seen func(int64) error) error {
	for done := int64(0); done < size; {
		n, err := w.Write(buffer[:min(size-done, int64(len(buffer)))])
		if done += int64(n); err == nil {
			err = seen(done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads a file up to size, or to its end if it is shorter, and returns how many bytes it
// read. The bytes are not compared: the file system does that with its checksums.
func read(t *mr.Task, file string, size int64, buffer []byte, seen func(int64) error) (done int64, err error) {
	f, err := t.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for done < size {
		n, err := f.Read(buffer[:min(size-done, int64(len(buffer)))])
		done += int64(n)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = seen(done)
		}
		if err != nil {
			return 0, err
		}
	}
	return done, nil
}
