package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// masterAdmin implements server.Admin.
type masterAdmin struct{ log *raftlog.Log }

// changeTime is how long a change of the masters may take.
const changeTime = 20 * time.Second

func withTimeout(limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return f(ctx)
}

func (a masterAdmin) AddMaster(id, address string) error {
	return withTimeout(changeTime, func(ctx context.Context) error { return a.log.AddMaster(ctx, id, address) })
}

func (a masterAdmin) RemoveMaster(id string) error {
	if err := checkMajority(a.log.Status(), id); err != nil {
		return err
	}
	return withTimeout(changeTime, func(ctx context.Context) error { return a.log.RemoveMaster(ctx, id) })
}

// checkMajority refuses to remove a master without whom those that are left could
// not decide anything. Only the leader can tell.
func checkMajority(s raftlog.Status, without string) error {
	voters, alive := 0, 0
	var silent []string
	for _, m := range s.Masters {
		switch {
		case m.ID == without || !m.Voter:
			continue
		case m.State == "unreachable":
			silent = append(silent, m.ID)
		default:
			alive++
		}
		voters++
	}
	if s.Leader.ID != s.ID || len(silent) == 0 || alive > voters/2 {
		return nil
	}
	return fmt.Errorf("without master %s there would be no majority, since %s does not answer; start or remove that one first",
		without, strings.Join(silent, ", "))
}

func (a masterAdmin) TransferLeadership(id string) error {
	if id != "" {
		return withTimeout(changeTime, func(ctx context.Context) error { return a.log.TransferLeadership(ctx, id) })
	}
	s := a.log.Status()
	for _, other := range s.Masters {
		if other.ID != s.ID && other.Voter && other.State == "follower" {
			return withTimeout(handOverTime, func(ctx context.Context) error { return a.log.TransferLeadership(ctx, other.ID) })
		}
	}
	if s.Leader.ID != s.ID {
		return jobmaster.ErrNotLeader
	}
	return errors.New("no other master that could lead")
}
