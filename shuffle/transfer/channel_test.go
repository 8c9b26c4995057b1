package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// ends opens the two ends of streams, in memory or through a server.
type ends struct {
	send    func(ctx context.Context, id ChannelID, wait time.Duration) (io.WriteCloser, error)
	receive func(ctx context.Context, id ChannelID, wait time.Duration) (io.ReadCloser, error)
	remove  func(job string)
}

// eachKind runs a test with streams in memory and with streams over HTTP.
func eachKind(t *testing.T, test func(t *testing.T, e ends)) {
	t.Run("memory", func(t *testing.T) {
		r := new(Rendezvous)
		test(t, ends{
			send: func(ctx context.Context, id ChannelID, wait time.Duration) (io.WriteCloser, error) {
				return r.Send(ctx, id, wait)
			},
			receive: func(ctx context.Context, id ChannelID, wait time.Duration) (io.ReadCloser, error) {
				return r.Receive(ctx, id, wait)
			},
			remove: r.RemoveJob,
		})
		if len(r.mu.streams) > 0 {
			t.Errorf("%d streams are left", len(r.mu.streams))
		}
	})
	t.Run("http", func(t *testing.T) {
		n := newTestMachine(t, ServerConfig{Key: testKey, IdleTimeout: 10 * time.Second, MaxStreams: 1})
		address := listen(t, n.server)
		c := NewChannelClient(ChannelConfig{Token: testToken})
		t.Cleanup(c.Close)
		test(t, ends{
			send: func(ctx context.Context, id ChannelID, wait time.Duration) (io.WriteCloser, error) {
				return c.Send(ctx, id, address, wait)
			},
			receive: func(ctx context.Context, id ChannelID, wait time.Duration) (io.ReadCloser, error) {
				return c.Receive(ctx, id, address, wait)
			},
			remove: n.server.RemoveJob,
		})
	})
}

func streamID(from, to int) ChannelID {
	return ChannelID{Job: testJob, BundleClass: 1, Bundle: 2, Incarnation: 3, Edge: 4, From: from, To: to}
}

func TestStreamsCarryAllBytesInOrder(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		var group sync.WaitGroup
		for i := range 4 {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			want := make([]byte, r.IntN(3<<20))
			for j := range want {
				want[j] = byte(r.Uint32())
			}
			group.Go(func() {
				w, err := e.send(context.Background(), streamID(i, 0), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				for left := want; len(left) > 0; {
					n := min(len(left), 1+r.IntN(500_000))
					if _, err := w.Write(left[:n]); err != nil {
						t.Error(err)
					}
					left = left[n:]
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
			group.Go(func() {
				in, err := e.receive(context.Background(), streamID(i, 0), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				defer in.Close()
				if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes of %d arrive: %v", len(got), len(want), err)
				}
			})
		}
		group.Wait()
	})
}

// TestAStreamWithoutItsOtherEnd checks that either end fails after its wait if the other end
// does not connect.
func TestAStreamWithoutItsOtherEnd(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		w, err := e.send(context.Background(), streamID(0, 0), time.Millisecond)
		if err == nil { // over HTTP the error appears at Close
			err = w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "has not connected within 1ms") {
			t.Errorf("writer: %v", err)
		}
		if _, err := e.receive(context.Background(), streamID(0, 0), time.Millisecond); err == nil || !strings.Contains(err.Error(), "has not connected within 1ms") {
			t.Errorf("reader: %v", err)
		}
	})
}

// pair opens both ends of a stream.
func pair(t *testing.T, e ends, ctx context.Context) (io.WriteCloser, io.ReadCloser) {
	t.Helper()
	var w io.WriteCloser
	var sent error
	done := make(chan struct{})
	go func() { defer close(done); w, sent = e.send(ctx, streamID(0, 0), time.Minute) }()
	in, err := e.receive(ctx, streamID(0, 0), time.Minute)
	<-done
	must.Do(t, errors.Join(err, sent))
	return w, in
}

func TestASecondEndIsRefused(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		w, in := pair(t, e, context.Background())
		second, err := e.send(context.Background(), streamID(0, 0), time.Minute)
		if err == nil {
			err = second.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "open already") {
			t.Errorf("second writer: %v", err)
		}
		if _, err := e.receive(context.Background(), streamID(0, 0), time.Minute); err == nil || !strings.Contains(err.Error(), "open already") {
			t.Errorf("second reader: %v", err)
		}
		go func() { _, _ = w.Write([]byte("first")); _ = w.Close() }() // the reader below reports errors
		if got, err := io.ReadAll(in); string(got) != "first" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		_ = in.Close() // already read to its end
	})
}

// TestReaderThatCloses checks that a writer fails if its reader closes the stream.
func TestReaderThatCloses(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		w, in := pair(t, e, context.Background())
		_ = in.Close() // break the stream on purpose
		var err error
		for b := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(b)
		}
		if !errors.Is(err, ErrBroken) {
			t.Errorf("writer: %v", err)
		}
		_ = w.Close() // fails: the stream is broken
	})
}

// TestWriterThatAborts checks that the reader sees an error if the writer aborts the stream.
func TestWriterThatAborts(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		ctx, cancel := context.WithCancel(context.Background())
		w, in := pair(t, e, ctx)
		defer in.Close()
		go func() {
			_, _ = w.Write([]byte("half")) // more data would follow
			if end, ok := w.(*SendEnd); ok {
				end.Abort(errors.New("enough"))
			}
			cancel()
		}()
		got, err := io.ReadAll(in)
		if err == nil || !strings.HasPrefix("half", string(got)) {
			t.Errorf("reader: %q, %v", got, err)
		}
		_ = w.Close() // fails: the stream is broken
	})
}

func TestRemovingAJobEndsItsStreams(t *testing.T) {
	eachKind(t, func(t *testing.T, e ends) {
		w, in := pair(t, e, context.Background())
		e.remove("job_1_0002")
		read := make(chan error, 1)
		go func() { _, err := io.ReadAll(in); read <- err }()
		if _, err := w.Write([]byte("before")); err != nil {
			t.Errorf("stream of another job: %v", err)
		}
		e.remove(testJob)
		if err := <-read; err == nil {
			t.Error("reader: a good end")
		}
		if err := w.Close(); err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("writer: %v", err)
		}
		_ = in.Close() // fails: the stream is broken
	})
}

func TestChannelRequests(t *testing.T) {
	id := streamID(5, 6)
	n := newTestMachine(t, ServerConfig{Key: testKey})
	address := listen(t, n.server)
	for name, c := range map[string]struct {
		url    string
		token  string
		method string
		status int
	}{
		"no token":    {id.url(address, 0), "", "GET", 401},
		"other":       {id.url(address, 0), testToken, "DELETE", 405},
		"nobody":      {id.url(address, 0), testToken, "GET", 504},
		"long wait":   {id.url(address, 2*time.Hour), testToken, "GET", 400},
		"no wait":     {"http://" + address + "/channel/job_1_0001/1/2/3/4/5/6", testToken, "GET", 400},
		"no number":   {"http://" + address + "/channel/job_1_0001/1/2/3/x/5/6?wait=1s", testToken, "POST", 400},
		"short":       {"http://" + address + "/channel/job_1_0001/1/2/3/4/5?wait=1s", testToken, "POST", 400},
		"no job":      {"http://" + address + "/channel/../1/2/3/4/5/6?wait=1s", JobToken(testKey, ".."), "POST", 400},
		"other job":   {id.url(address, 0), JobToken(testKey, otherJob), "GET", 401},
		"other query": {"http://" + address + "/channel/job_1_0001/1/2/3/4/5/6?wait=1s&x=1", testToken, "POST", 400},
	} {
		r, err := http.NewRequest(c.method, c.url, nil)
		must.Do(t, err)
		r.Header.Set("Authorization", "Bearer "+c.token)
		answer, err := http.DefaultTransport.RoundTrip(r)
		must.Do(t, err)
		if answer.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", name, answer.StatusCode, c.status)
		}
		_ = answer.Body.Close() // body not read
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func FuzzParseChannel(f *testing.F) {
	f.Add("/channel/job_1_0001/1/2/3/4/5/6?wait=1m0s")
	f.Fuzz(func(t *testing.T, target string) {
		r, err := http.NewRequest("GET", target, nil)
		if err != nil {
			return
		}
		id, wait, err := parseChannel(r.URL)
		if err != nil {
			return
		}
		again, err := http.NewRequest("GET", id.url("a:1", wait), nil)
		must.Do(t, err)
		if id2, wait2, err := parseChannel(again.URL); id2 != id || wait2 != wait || err != nil {
			t.Fatal(fmt.Sprint(id, id2, wait, wait2, err))
		}
	})
}
