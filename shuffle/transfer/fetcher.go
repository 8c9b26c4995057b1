package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/hammr/hammr/shuffle"
)

// FetcherConfig configures a Fetcher.
type FetcherConfig struct {
	// Token is the token for servers; "" for none.
	Token string
	// ConnectTimeout bounds the wait for a connection; default 10 s.
	ConnectTimeout time.Duration
	// IdleTimeout is how long a server may send nothing; default 30 s.
	IdleTimeout time.Duration
	// Resolve opens stored outputs. There is no default.
	Resolve Resolve
	// Sources is shared with the other fetchers of the process. By default the fetcher has
	// its own.
	Sources *Sources
}

// EnsureDefaults sets fields that are not set to their defaults.
func (c *FetcherConfig) EnsureDefaults() {
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 30*time.Second)
	if c.Sources == nil {
		c.Sources = new(Sources)
	}
}

// Sink takes the runs of an output, all or none. See shuffle.Intake.
type Sink interface {
	AddRemote(ctx context.Context, runs []shuffle.Run, ordinal shuffle.Ordinal, open shuffle.OpenRun) error
}

// Segment is a partition of one output.
type Segment struct {
	Task      int32 // number of the writing task, chosen by the caller; a newer output of a task replaces an older one
	Partition int   // the partition to copy
	Output    Output
	Ordinal   shuffle.Ordinal
}

// Fetcher copies runs from servers over persistent connections. Any number of goroutines may
// use it.
//
//	Fetch ─► index (cached) ─► sink reserves ─► openRun: credit, request ─► sink verifies
//	  ▲                                                                        │ damaged
//	  └─ once more ◄───────────────────────────────────────────────────────────┤
//	                                                      twice: blame ◄───────┘
//	                                                        └─► the source verifies its disk
type Fetcher struct {
	cfg    FetcherConfig
	client *client
}

// keepIdle is how many idle connections to one server a Fetcher keeps: more than parallel
// copies usually need, so that connections are reused.
const keepIdle = 16

// NewFetcher makes a Fetcher. It must be closed.
func NewFetcher(cfg FetcherConfig) *Fetcher {
	cfg.EnsureDefaults()
	return &Fetcher{cfg, newClient(clientConfig{
		token: cfg.Token, connectTimeout: cfg.ConnectTimeout, idleTimeout: cfg.IdleTimeout, keepIdle: keepIdle,
	})}
}

// Close closes the idle connections. No Fetch may be active.
func (f *Fetcher) Close() { f.client.close() }

// Fetch copies the runs of a segment into sink and returns them. It reads damaged bytes once
// more. If they are damaged again, it asks the source to verify its disk. After a
// *FetchError a retry may help, after a *BusyError the caller should retry, and after a
// *LostError a retry is useless. Any other error is from the sink, from ctx, or from a
// server that refuses the request.
func (f *Fetcher) Fetch(ctx context.Context, s Segment, sink Sink) ([]shuffle.Run, error) {
	var damage *FetchError
	for range 2 {
		runs, err := f.copy(ctx, s, sink)
		if !errors.As(err, &damage) || !damage.damaged {
			return runs, err
		}
	}
	return nil, f.blame(ctx, damage)
}

// copy copies the segment once.
func (f *Fetcher) copy(ctx context.Context, s Segment, sink Sink) ([]shuffle.Run, error) {
	classify := classify
	if s.Output.Stored != "" {
		classify = classifyStored
	}
	index, err := f.index(ctx, s.Output)
	if err != nil {
		return nil, classify(ctx, &FetchError{Output: s.Output, Partition: s.Partition, Run: -1, Err: err})
	}
	if s.Partition >= len(index.Partitions) {
		return nil, fmt.Errorf("index of %v: no partition %d, it has %d", s.Output, s.Partition, len(index.Partitions))
	}
	runs := index.Partitions[s.Partition]
	err = sink.AddRemote(ctx, runs, s.Ordinal, func(ctx context.Context, run shuffle.Run) (io.ReadCloser, error) {
		if s.Output.Stored != "" {
			return f.openStored(ctx, s.Output, run)
		}
		return f.openRun(ctx, s.Output.runURL(s.Partition, slices.Index(runs, run)), s.Output.Address, run)
	})
	if source, ok := errors.AsType[*shuffle.SourceError](err); ok {
		return nil, classify(ctx, &FetchError{
			Output: s.Output, Partition: s.Partition,
			Run: slices.Index(runs, source.Run), Offset: source.Run.Offset, Err: source.Err,
		})
	}
	return runs, err
}

// index returns the index of an output, checked against what the map reported. All fetchers
// of the process share the index, because each reduce of a machine needs it.
func (f *Fetcher) index(ctx context.Context, o Output) (*shuffle.Index, error) {
	if o.Stored != "" {
		return f.storedIndex(ctx, o)
	}
	key := fmt.Sprintf("%s %s %x", o.Address, o.indexURL(), o.IndexChecksum)
	return f.cfg.Sources.indexes.get(key, func() (*shuffle.Index, error) {
		answer, err := f.get(ctx, o.indexURL(), "")
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		x, err := shuffle.LoadIndex(answer.Body)
		if err != nil {
			return nil, bodyError{err}
		}
		if x.Checksum != o.IndexChecksum {
			return nil, bodyError{fmt.Errorf("checksum %x, but the map reported %x", x.Checksum, o.IndexChecksum)}
		}
		return x, nil
	})
}

// openRun requests the bytes of a run once the credit of the source allows it. The header of
// the answer repeats the run's entry in the index that the server read. If the entries
// differ, the server has a different file.
func (f *Fetcher) openRun(ctx context.Context, url, address string, run shuffle.Run) (io.ReadCloser, error) {
	giveBack, err := f.cfg.Sources.borrow(ctx, address, run.Length)
	if err != nil {
		return nil, err
	}
	answer, err := f.get(ctx, url, "")
	if err != nil {
		giveBack()
		return nil, err
	}
	body := &runBody{answer.Body, giveBack}
	if entry := answer.Header.Get(HeaderRun); entry != formatRun(run) || answer.ContentLength != run.Length {
		err := fmt.Errorf("the source has %d bytes, run %q, but the index has %q", answer.ContentLength, entry, formatRun(run))
		return nil, errors.Join(bodyError{err}, body.Close())
	}
	return body, nil
}

// runBody is the body of a run. Close returns the credit of the source.
type runBody struct {
	io.ReadCloser
	giveBack func()
}

// Read marks errors as errors of the body.
func (b *runBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = bodyError{err}
	}
	return n, err
}

// Close returns the credit of the source, and closes the body.
func (b *runBody) Close() error {
	b.giveBack()
	return b.ReadCloser.Close()
}

// get requests a range of a URL. byteRange is the value of the header Range; "" requests the
// whole file.
func (f *Fetcher) get(ctx context.Context, url, byteRange string) (*http.Response, error) {
	r, err := f.client.request(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if byteRange == "" {
		return f.client.do(r, http.StatusOK)
	}
	r.Header.Set("Range", byteRange)
	return f.client.do(r, http.StatusPartialContent)
}

// blame asks the source whether its disk is the cause of damage. If the disk is bad, the
// output is lost; if the network is, a retry may help. Files of a stored output have no
// server, and are lost.
func (f *Fetcher) blame(ctx context.Context, damage *FetchError) error {
	if damage.Output.Stored != "" {
		return &LostError{damage.Output, damage}
	}
	v, err := f.fetchVerdict(ctx, damage)
	o := damage.Output
	answer, answered := errors.AsType[*statusError](err)
	switch {
	case answered && answer.status == http.StatusNotFound:
		return &LostError{o, errors.Join(damage, err)}
	case err != nil:
		damage.Err = fmt.Errorf("%w (the source did not verify its disk: %w)", damage.Err, err)
		return classifyAfterBlame(ctx, damage)
	case !v.Good:
		return &LostError{o, fmt.Errorf("%w; the source's disk is corrupt: %s", damage, v.Problem)}
	case v.IndexChecksum != o.IndexChecksum:
		return &LostError{o, fmt.Errorf("%w; the source has an index with checksum %x, the map reported %x", damage, v.IndexChecksum, o.IndexChecksum)}
	}
	damage.Err = fmt.Errorf("damaged by the network, the source's disk is good: %w", damage.Err)
	return classifyAfterBlame(ctx, damage)
}

// classifyAfterBlame marks damage for a later retry.
func classifyAfterBlame(ctx context.Context, damage *FetchError) error {
	damage.damaged = false
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return damage
}

// maxVerdict bounds the answer about a disk, in bytes.
const maxVerdict = 64 << 10

// fetchVerdict requests the verdict about a run, or about the index. The network that
// damaged the run may damage the verdict too, so its checksum is verified.
func (f *Fetcher) fetchVerdict(ctx context.Context, damage *FetchError) (verdict, error) {
	var v verdict
	answer, err := f.get(ctx, damage.Output.verifyURL(damage.Partition, damage.Run), "")
	if err != nil {
		return v, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxVerdict))
	if err != nil {
		return v, err
	}
	if answer.Header.Get(HeaderChecksum) != checksum(b) {
		return v, errors.New("the source's report on its disk is damaged too")
	}
	return v, json.Unmarshal(b, &v)
}
