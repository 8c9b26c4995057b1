package remote

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// rewatchInterval is the pause before the client watches a job again, if the stream broke
// after it had sent a status.
const rewatchInterval = 50 * time.Millisecond

// Watch implements client.Client. When a stream breaks, it continues with the next leader,
// as long as it finds that leader within Config.Timeout.
func (c *Client) Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	w := &watcher{each: each}
	for {
		err := c.masters.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
			return w.stream(ctx, m, jobID)
		})
		switch {
		case err != nil:
			return nil, classify(err)
		case w.done():
			return w.last, nil
		case w.lost != nil:
			_ = c.masters.NoteStreamError(w.from, w.lost) // the call updates the order of the next search
		}
		if err := syncutil.Sleep(ctx, rewatchInterval); err != nil {
			return nil, err
		}
	}
}

// watcher is the state of one Watch over several streams.
type watcher struct {
	each func(*wire.JobStatus) // may be nil
	last *wire.JobStatus       // nil before the first status

	from *rpc.Master // the last master that sent a status
	lost error       // the error that ended its stream, nil for none
}

// stream shows the statuses that one master sends. A master that has sent a status was
// leading, so the search for the next leader gets a full new timeout.
func (w *watcher) stream(ctx context.Context, m *rpc.Master, jobID string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := m.Follow(ctx, &wire.WatchRequest{JobId: jobID})
	if err != nil {
		return err
	}
	defer stream.Close() // Err returns the error that matters
	received := false
	for !w.done() && stream.Receive() {
		received = true
		w.show(stream.Msg())
	}
	if received {
		w.from, w.lost = m, stream.Err()
		return nil
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return errors.New("job " + jobID + ": the master sent no status")
}

// show passes a status to the caller unless it is older than the last one or equal to it. A
// new leader may know less about a running job than the previous leader knew.
func (w *watcher) show(s *wire.JobStatus) {
	if w.last != nil && (s.State < w.last.State || proto.Equal(s, w.last)) {
		return
	}
	w.last = s
	if w.each != nil {
		w.each(s)
	}
}

// done reports whether the final status has arrived.
func (w *watcher) done() bool { return w.last != nil && w.last.State.Final() }
