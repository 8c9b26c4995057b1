package remote

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"google.golang.org/protobuf/proto"
)

// rewatchInterval is how long the client waits before it follows a job
// again whose stream broke after it had brought something.
const rewatchInterval = 50 * time.Millisecond

// Watch implements client.Client. It goes on with the next master that leads
// when a stream is lost, for as long as each is found within Config.Timeout.
func (c *Client) Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	w := &watcher{each: each}
	for {
		err := c.masters.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
			return w.stream(ctx, m, jobID)
		})
		switch {
		case err != nil:
			return nil, classify(err, client.ErrUnknownJob)
		case w.done():
			return w.last, nil
		case w.lost != nil:
			_ = c.masters.NoteStreamError(w.from, w.lost) // for where to look next
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(rewatchInterval):
		}
	}
}

// watcher is what somebody has seen of a job.
type watcher struct {
	each func(*wire.JobStatus) // nil for nobody
	last *wire.JobStatus       // nil before the first

	from *rpc.Master // that has told something, the last time
	lost error       // what ended its stream, nil for nothing
}

// stream shows what one master tells. One that has told something has led, and
// the search for the next one begins anew.
func (w *watcher) stream(ctx context.Context, m *rpc.Master, jobID string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := m.Follow(ctx, &wire.FollowRequest{JobId: jobID})
	if err != nil {
		return err
	}
	defer stream.Close() // what matters of its error Err tells
	told := false
	for !w.done() && stream.Receive() {
		told = true
		w.show(stream.Msg())
	}
	if told {
		w.from, w.lost = m, stream.Err()
		return nil
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return errors.New("job " + jobID + ": the master tells nothing of it")
}

// show passes a status on unless it is no newer than the last: a master that has
// just begun to lead may know less of a running job than the one before it.
func (w *watcher) show(s *wire.JobStatus) {
	if w.last != nil && (s.State < w.last.State || proto.Equal(s, w.last)) {
		return
	}
	w.last = s
	if w.each != nil {
		w.each(s)
	}
}

// done reports whether the final status was seen.
func (w *watcher) done() bool { return w.last != nil && w.last.State >= wire.JobState_SUCCEEDED }
