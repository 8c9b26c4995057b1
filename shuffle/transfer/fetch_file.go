package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
)

// File names a file in the local directory of an attempt on another machine: part of a
// checkpoint, or an output that a draining machine hands on.
type File struct {
	Address string // host:port of the Server
	Job     string
	Path    string // ATTEMPT/FILE or ATTEMPT/DIR/FILE, wherever the attempt lies in the job's directory
}

// FileOf returns the file on another machine whose full name there is name. Its Path is the
// part of the name below the job's directory, without the attempt's shard: the Server knows it.
func FileOf(address, job, name string) (File, error) {
	at := strings.LastIndex(name, "/"+job+"/")
	if job == "" || at < 0 {
		return File{}, fmt.Errorf("file %.200q: not in a directory of job %s", name, job)
	}
	f := File{Address: address, Job: job, Path: name[at+len(job)+2:]}
	if shard, rest, _ := strings.Cut(f.Path, "/"); taskdir.IsShard(shard) {
		f.Path = rest
	}
	u, err := url.Parse(f.url())
	if err != nil {
		return File{}, err
	}
	if _, err := parseRequest(u); err != nil {
		return File{}, err
	}
	return f, nil
}

func (f File) url() string { return serverURL(f.Address, Prefix+path.Join(f.Job, f.Path), nil) }

func (f File) String() string { return fmt.Sprintf("%s of %s on %s", f.Path, f.Job, f.Address) }

// Open requests the bytes [offset, offset+length) of a file, or all from offset on if length
// is negative. Nothing verifies the bytes: the caller has checksums. For errors see
// RetryLater.
func (f *Fetcher) Open(ctx context.Context, file File, offset, length int64) (io.ReadCloser, error) {
	if length == 0 {
		return http.NoBody, nil
	}
	var header string // "" for the whole file, because an empty file has no range
	switch {
	case length > 0:
		header = fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	case offset > 0:
		header = fmt.Sprintf("bytes=%d-", offset)
	}
	answer, err := f.get(ctx, file.url(), header)
	if err != nil {
		return nil, fmt.Errorf("fetch %v: %w", file, err)
	}
	if length >= 0 && answer.ContentLength != length {
		err := bodyError{fmt.Errorf("fetch %v: answer of %d bytes for %d bytes at offset %d", file, answer.ContentLength, length, offset)}
		return nil, errors.Join(err, answer.Body.Close())
	}
	return &runBody{answer.Body, func() {}}, nil
}

// RetryLater reports whether Open may succeed later although it returned err, and how long
// to wait; 0 if the server does not say. A busy server and a broken connection may recover.
// A missing file and a refused request do not.
func RetryLater(err error) (after time.Duration, ok bool) {
	if answer, ok := errors.AsType[*statusError](err); ok {
		busy := answer.status == http.StatusServiceUnavailable || answer.status == http.StatusTooManyRequests
		return answer.after, busy || answer.status == http.StatusInternalServerError
	}
	return 0, errors.As(err, new(bodyError)) || errors.As(err, new(*url.Error)) // no answer came
}
