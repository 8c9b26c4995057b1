package leader

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/nodeprofile"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc"
)

// profileTime bounds a profile in addition to the time that it covers.
const profileTime = 15 * time.Second

// TakeProfile takes a profile of a master, of a tasknode, or of an attempt that runs on a tasknode. It
// asks only daemons that the masters know, at the addresses that they know.
func (s *Source) TakeProfile(ctx context.Context, tasknode string, q docs.ProfileQuery) (p docs.ProfileData, err error) {
	ctx, cancel := context.WithTimeout(ctx, q.Time()+profileTime)
	defer cancel()
	if q.Object == "master" {
		p.Bytes, err = s.profileMaster(ctx, q)
	} else {
		p.Bytes, err = s.profileTasknode(ctx, tasknode, q)
	}
	switch {
	case errors.As(err, new(profile.Refusal)):
		err = docs.Classify(docs.ErrRefused, err)
	case err != nil && !errors.Is(err, docs.ErrUnknown):
		err = docs.Classify(docs.ErrUnavailable, err)
	}
	return p, err
}

// profileTasknode asks a tasknode for a profile of an attempt, or of itself.
func (s *Source) profileTasknode(ctx context.Context, name string, q docs.ProfileQuery) ([]byte, error) {
	nodes, err := docs.Nodes.Read(ctx, s, docs.No{})
	if err != nil {
		return nil, err
	}
	for _, n := range nodes.Value {
		switch {
		case n.Name != name:
		case n.State == "LOST" || n.HTTP == "":
			return nil, profile.Refusal(fmt.Sprintf("tasknode %s is lost, so it takes no profiles", name))
		default:
			url := "http://" + n.HTTP + nodeprofile.Path
			if q.Object == "attempt" {
				url += "/" + q.ID // the board knows it, so it is an id
			}
			return nodeprofile.Fetch(ctx, s.profiles, url, q.Query)
		}
	}
	return nil, fmt.Errorf("no tasknode %.100q: %w", name, docs.ErrUnknown)
}

// profileMaster asks a master for a profile of itself, at its RPC address.
func (s *Source) profileMaster(ctx context.Context, q docs.ProfileQuery) ([]byte, error) {
	masters, err := s.masters(ctx, docs.No{})
	if err != nil {
		return nil, err
	}
	scheme := "http://"
	if s.cfg.RPC.TLS != nil {
		scheme = "https://"
	}
	for _, m := range masters.Value.Masters {
		if m.ID == q.ID {
			return nodeprofile.Fetch(ctx, s.calls, scheme+m.Address+path.Join(rpc.APIRoot, nodeprofile.Path), q.Query)
		}
	}
	return nil, fmt.Errorf("no master %.100q: %w", q.ID, docs.ErrUnknown)
}
