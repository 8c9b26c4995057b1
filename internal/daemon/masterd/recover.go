package masterd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// RecoverConfig says which master is left of a cluster. Errors name its fields by the flags of
// `hammr master recover`.
type RecoverConfig struct {
	// Dir is the directory of the master, which must not run. Required.
	Dir string
	// Address is the host:port at which others will reach the master. Default as before.
	Address string
	// TokenFile has the cluster's secret, for questions to the other masters. Required.
	TokenFile string
}

// Recovered describes a master that has become the only one of its cluster.
type Recovered struct {
	Cluster string
	ID      string
	Address string // host:port
	Masters int    // of the cluster before
}

// Recover makes a master the only one of its cluster.
func Recover(ctx context.Context, cfg RecoverConfig) (done Recovered, err error) {
	token, err := rpc.ReadToken(cfg.TokenFile)
	if err != nil {
		return done, err
	}
	s, err := raftlog.OpenSurvivor(filepath.Join(cfg.Dir, raftDir))
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	done = Recovered{Cluster: s.Cluster, ID: s.Self.ID, Address: s.Self.Address, Masters: len(s.Masters)}
	if cfg.Address != "" {
		done.Address = daemon.WithDefaultPort(cfg.Address, defaultPort)
	}
	var others []raftlog.Peer
	for _, m := range s.Masters {
		if m.ID != s.Self.ID {
			others = append(others, m.Peer)
		}
	}
	if err := checkLost(s.Self, s.Masters, answering(ctx, others, s.Cluster, token)); err != nil {
		return done, err
	}
	return done, s.Recover(done.Address)
}

// checkLost refuses a recovery that is not needed: the other masters have a leader, or the masters
// that answer are a majority together with the one that would be recovered. It also refuses a
// master that had not caught up.
func checkLost(self raftlog.Master, masters []raftlog.Master, alive []answer) error {
	if !self.Voter {
		return fmt.Errorf("master %s is a non-voter and may lack most of the log; recover another master, or restore a backup", self.ID)
	}
	voters, votes := 0, 0
	for _, m := range masters {
		if !m.Voter {
			continue
		}
		voters++
		if m.ID == self.ID {
			votes++
		}
		for _, a := range alive {
			if a.ID == m.ID {
				votes++
			}
		}
	}
	for _, a := range alive {
		if a.info.GetLeader() != "" {
			return fmt.Errorf("the cluster lives: master %s at %s answers, and its leader is %s; start master %s as usual", a.ID, a.Address, a.info.GetLeader(), self.ID)
		}
	}
	if votes > voters/2 {
		return fmt.Errorf("no majority is lost: %d of %d masters are there, with %s; start it as usual", votes, voters, self.ID)
	}
	return nil
}

// answer is a master that answers.
type answer struct {
	raftlog.Peer
	info *wire.Info // nil if it refuses the question
}

// answering returns the masters of a cluster that answer, in the order of the list. A server that
// is no master, or a master of another cluster, does not count. A master that refuses the token or
// the version counts.
func answering(ctx context.Context, masters []raftlog.Peer, clusterID, token string) (alive []answer) {
	for i, a := range askAll(ctx, masters, clusterID, token) {
		var refused *rpc.PermanentError
		switch {
		case a.Err == nil:
			alive = append(alive, answer{Peer: raftlog.Peer{ID: cmp.Or(a.Info.AnsweredBy, masters[i].ID), Address: masters[i].Address}, info: a.Info})
		case errors.As(a.Err, &refused) && refused.Reason != wire.Refusal_CLUSTER:
			alive = append(alive, answer{Peer: masters[i]})
		}
	}
	return alive
}
