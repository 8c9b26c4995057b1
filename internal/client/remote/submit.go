package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// A submission must not become two jobs, although its answer may be lost and any part of
// it may fail:
//
//	register ──► stage: program, splits ──► Submit, perhaps repeated ──► id
//	   │             │ an error: nothing was sent; a repetition stages again
//	   │             └ refused by the master: the splits are removed, and it may be changed
//	   └ the same client and sequence: the entry that exists, and so the same job

// submission identifies a submission.
type submission struct {
	client   string
	sequence uint64
}

// staged is a submission whose staging and sending have begun.
type staged struct {
	sync.Mutex               // held while the submission is staged and sent
	spec       *wire.JobSpec // nil until the submission is staged
	id         string        // of the job; "" until a master has accepted the submission
	firstSent  time.Time     // zero until it is sent
}

// Submit implements client.Client. If a submission could not be sent, or its answer was
// lost, the caller may repeat it. Submit then sends what it staged the first time.
func (c *Client) Submit(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) (string, error) {
	if c.cfg.Resolve == nil {
		return "", errors.New("remote: no Resolve function, so no job can be submitted")
	}
	spec, s := c.register(spec)
	s.Lock()
	defer s.Unlock()
	if s.id != "" {
		return s.id, nil
	}
	if s.spec == nil {
		if err := c.stage(ctx, spec, splits); err != nil {
			return "", err
		}
		s.spec = spec
	}
	answer, err := rpc.Call(ctx, c.masters, s.send, &wire.SubmitRequest{Spec: s.spec})
	var refused *rpc.PermanentError
	if errors.As(err, &refused) {
		err = errors.Join(err, c.discard(context.WithoutCancel(ctx), s.spec))
		s.spec = nil
	}
	if err != nil {
		return "", err
	}
	s.id = answer.JobId
	return s.id, nil
}

// send sends the submission to a master, with the time since it was sent first. A master that
// does not remember submissions of that time refuses it, since it may have been accepted. The
// machine may have been suspended, so the time of day counts too.
func (s *staged) send(m *rpc.Master, ctx context.Context, q *wire.SubmitRequest) (*wire.SubmitResponse, error) {
	now := time.Now()
	if s.firstSent.IsZero() {
		s.firstSent = now
	} else {
		age := max(now.Sub(s.firstSent), now.Round(0).Sub(s.firstSent.Round(0)), time.Millisecond)
		q.Spec.RepeatedAfter = age.Milliseconds()
	}
	return m.Submit(ctx, q)
}

// register gives a submission its identity and returns its entry.
func (c *Client) register(spec *wire.JobSpec) (*wire.JobSpec, *staged) {
	spec = proto.CloneOf(spec)
	if host, err := os.Hostname(); err == nil && spec.SubmitHost == "" {
		spec.SubmitHost = host
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if spec.ClientId == "" {
		c.mu.sequence++
		spec.ClientId, spec.Sequence = c.id, c.mu.sequence
	}
	key := submission{spec.ClientId, spec.Sequence}
	s := c.mu.jobs[key]
	if s == nil {
		s = new(staged)
		c.mu.jobs[key] = s
	}
	return spec, s
}

// stage writes the files that the cluster needs and names them in spec.
func (c *Client) stage(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) error {
	if n := proto.Size(spec); n > rpc.MaxJobBytes {
		return rpc.JobTooLarge(n)
	}
	area, err := c.area(ctx)
	if err != nil {
		return err
	}
	p, err := c.stageProgram(ctx, area)
	if err != nil {
		return fmt.Errorf("staging of the program: %w", err)
	}
	spec.Binary, spec.BinarySha256 = p.name, p.sum
	if err := area.stageSplits(ctx, spec, splits); err != nil {
		return fmt.Errorf("staging file of the splits: %w", err)
	}
	return nil
}

// area returns the cluster's staging area as a master names it. The client must be able to
// write to it.
func (c *Client) area(ctx context.Context) (stagingArea, error) {
	info, err := c.masters.Info(ctx)
	if err != nil {
		return stagingArea{}, err
	}
	if info.StagingDir == "" {
		return stagingArea{}, fmt.Errorf("cluster %s: its masters have no staging directory; set --staging of the jobmasters", info.ClusterId)
	}
	fsys, dir, err := c.cfg.Resolve(ctx, info.StagingDir)
	if err != nil {
		return stagingArea{}, fmt.Errorf("staging directory of cluster %s: %w", info.ClusterId, err)
	}
	return stagingArea{fsys, dir}, nil
}

// discard removes the splits of a submission that was refused.
func (c *Client) discard(ctx context.Context, spec *wire.JobSpec) error {
	fsys, file, err := c.cfg.Resolve(ctx, spec.SplitsPath)
	if err != nil {
		return err
	}
	return stagingArea{fsys: fsys}.removeSplits(ctx, file)
}
