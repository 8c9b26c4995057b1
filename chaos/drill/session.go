package drill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// Config is what all drills of a session have in common. Zero values stand for the
// defaults.
type Config struct {
	// Hammr is the program of daemons, clients and jobs. Required.
	Hammr string
	// Cluster is a running cluster to drill; nil for one that each drill starts.
	Cluster *testcluster.HostConfig
	// Data is the full name of a directory that Cluster reads and writes. Default a
	// directory of this machine.
	Data string
	// JobTimeout bounds the jobs of a drill. Default 2 min.
	JobTimeout time.Duration
	// Expiry is the silence after which a tasknode is lost. Default 1 s.
	Expiry time.Duration
}

// Session runs drills one after the other. A Session is used by one goroutine.
type Session struct {
	cfg             Config
	dir             string                        // scratch, removed at the end
	hdfs            *minihdfs.Cluster             // nil until a plan wants one
	expectedOutputs map[string]testcluster.Output // by the place of the output
}

// NewSession makes a session. The caller calls Close. It starts nothing.
func NewSession(cfg Config) (*Session, error) {
	if cfg.Hammr == "" {
		return nil, errors.New("drill: no program for the daemons")
	}
	cfg.JobTimeout = cmp.Or(cfg.JobTimeout, 2*time.Minute)
	dir, err := os.MkdirTemp("", "hammr-drill-")
	if err != nil {
		return nil, fmt.Errorf("drill: %w", err)
	}
	return &Session{cfg: cfg, dir: dir, expectedOutputs: make(map[string]testcluster.Output)}, nil
}

// Close ends the session's HDFS and removes its files. Data on a remote file system is
// removed too.
func (s *Session) Close() error {
	var err error
	if s.hdfs != nil {
		err = s.hdfs.Close()
	}
	if s.cfg.Data != "" {
		_, removed := s.command(context.Background(), nil, "fs", "-rm", "-r", "-f", s.dataPlace(nil).dir)
		err = errors.Join(err, removed)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// obtainHDFS returns the session's HDFS, with at least n DataNodes. It starts on first use.
// Its start takes 8 s, so drills share it. It has at least four DataNodes.
func (s *Session) obtainHDFS(ctx context.Context, n int) (*minihdfs.Cluster, error) {
	if s.hdfs != nil && s.hdfs.DataNodes() < n {
		return nil, fmt.Errorf("drill: %d tasknodes on an HDFS with %d DataNodes; run the plan with the most tasknodes first", n, s.hdfs.DataNodes())
	}
	var err error
	if s.hdfs == nil {
		s.hdfs, err = minihdfs.Start(ctx, minihdfs.Config{Dir: filepath.Join(s.dir, "hdfs"), DataNodes: max(n, 4), BlockSize: 1 << 20})
	}
	return s.hdfs, err
}

// CanPlay reports every reason why a plan cannot be played here; nil if it can. Run calls
// it first, so nothing is started for an invalid plan.
func (s *Session) CanPlay(plan *chaos.Plan) error {
	errs := []error{plan.Check()}
	for _, j := range plan.Jobs {
		errs = append(errs, canRun(j))
	}
	if s.cfg.Cluster != nil {
		return errors.Join(append(errs, s.canPlayOnHosts(plan))...)
	}
	for _, f := range plan.Faults {
		if err := canIsolate(plan, f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f, err))
		}
	}
	return errors.Join(errs...)
}

// canIsolate reports why a fault that needs namespaces cannot be injected. Each drill has
// its own bridge and disks, which require root or a user namespace.
func canIsolate(plan *chaos.Plan, f chaos.Fault) error {
	network, disk := needs(f)
	switch {
	case network && plan.HDFS:
		return errors.New("partitions of daemons work with local files only, as HDFS listens on the loopback network")
	case (network || disk) && !rig.Isolated():
		return errors.New("this process has no namespaces of its own")
	}
	return nil
}

// needs reports which namespaces a fault requires. A DataNode is separated by a forwarder
// and needs no network.
func needs(f chaos.Fault) (network, disk bool) {
	kind := chaos.SpecOf(f.Kind)
	return kind.NeedsNetwork && f.Target.Role != chaos.DataNode, kind.NeedsDisk
}

// NeedsIsolation reports whether a plan has faults that require a process prepared by
// rig.Isolate. If so, the caller starts itself again in namespaces.
func NeedsIsolation(plan *chaos.Plan) bool {
	network, disks := isolation(plan)
	return network || disks
}

// KindNeedsIsolation reports whether plans of a kind may need isolation.
func KindNeedsIsolation(kind chaos.Kind) bool {
	return chaos.SpecOf(kind).NeedsNetwork || chaos.SpecOf(kind).NeedsDisk
}

// isolation reports which namespaces the faults of a plan require together.
func isolation(plan *chaos.Plan) (network, disks bool) {
	for _, f := range plan.Faults {
		n, d := needs(f)
		network, disks = network || n, disks || d
	}
	return network, disks
}

// command runs the program; environ names the cluster, nil for none. The output has no
// white space at both ends.
func (s *Session) command(ctx context.Context, environ []string, args ...string) (stdout string, err error) {
	return testcluster.Program{File: s.cfg.Hammr, Environ: environ}.Run(ctx, args...)
}
