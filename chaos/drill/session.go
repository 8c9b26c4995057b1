package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/internal/rpc"
)

// Config is what all drills of a session have in common. Zero values stand for
// the defaults.
type Config struct {
	// Hammr is the program of daemons, clients and jobs. Required.
	Hammr string
	// Cluster is one that runs already, to be drilled instead of one that is made for
	// the drill; default nil.
	Cluster *rig.HostConfig
	// Data is the full name of a directory for input and output that such a cluster
	// reads and writes; default a directory of this machine.
	Data string
	// JobTimeout is how long the jobs of a drill may take; default 2 min.
	JobTimeout time.Duration
	// Expiry is the silence after which a tasknode is given up; default 1 s.
	Expiry time.Duration
}

// Session is some drills, one after the other.
type Session struct {
	cfg             Config
	dir             string            // scratch, removed at the end
	hdfs            *minihdfs.Cluster // nil until a plan wants one
	expectedOutputs map[string]output // by the place of the output
}

// NewSession makes a session. The caller calls Close.
func NewSession(cfg Config) (*Session, error) {
	if cfg.Hammr == "" {
		return nil, errors.New("drill: no program for the daemons")
	}
	if cfg.JobTimeout == 0 {
		cfg.JobTimeout = 2 * time.Minute
	}
	dir, err := os.MkdirTemp("", "hammr-drill-")
	if err != nil {
		return nil, fmt.Errorf("drill: %w", err)
	}
	return &Session{cfg: cfg, dir: dir, expectedOutputs: make(map[string]output)}, nil
}

// Close removes what the session keeps, and ends its HDFS.
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

// obtainHDFS is the session's HDFS, with at least n DataNodes.
func (s *Session) obtainHDFS(ctx context.Context, n int) (*minihdfs.Cluster, error) {
	if s.hdfs != nil && s.hdfs.DataNodes() < n {
		return nil, fmt.Errorf("drill: %d tasknodes on an HDFS with %d DataNodes; plans with more come first", n, s.hdfs.DataNodes())
	}
	var err error
	if s.hdfs == nil {
		s.hdfs, err = minihdfs.Start(ctx, minihdfs.Config{Dir: filepath.Join(s.dir, "hdfs"), DataNodes: max(n, 4), BlockSize: 1 << 20})
	}
	return s.hdfs, err
}

// CanPlay tells why a plan cannot be played here, every reason; nil when it can.
func (s *Session) CanPlay(plan *chaos.Plan) error {
	faults := []error{plan.Check()}
	if s.cfg.Cluster != nil {
		return errors.Join(plan.Check(), s.canPlayOnHosts(plan))
	}
	for _, f := range plan.Faults {
		if f.Kind != chaos.Partition && f.Kind != chaos.FullDisk {
			continue
		}
		if err := isolationFor(plan, f); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", f, err))
		}
	}
	return errors.Join(faults...)
}

// isolationFor tells why a fault cannot be injected that takes namespaces.
func isolationFor(plan *chaos.Plan, f chaos.Fault) error {
	switch {
	case f.Kind == chaos.Partition && f.Target.Role == chaos.DataNode:
		return nil // through its forwarder
	case f.Kind == chaos.Partition && plan.HDFS:
		return errors.New("partitions of daemons go with local files only, as HDFS listens on the loopback network")
	case !rig.Isolated():
		return errors.New("this process has no namespaces of its own")
	}
	return nil
}

// NeedsIsolation is whether a plan has faults that take a process that
// rig.Isolate has prepared.
func NeedsIsolation(plan *chaos.Plan) bool {
	network, disks := isolation(plan)
	return network || disks
}

func isolation(plan *chaos.Plan) (network, disks bool) {
	for _, f := range plan.Faults {
		network = network || f.Kind == chaos.Partition && f.Target.Role != chaos.DataNode
		disks = disks || f.Kind == chaos.FullDisk
	}
	return network, disks
}

// command runs the program; its environment names a cluster only where environ
// does.
func (s *Session) command(ctx context.Context, environ []string, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, s.cfg.Hammr, args...)
	cmd.Env = append(withoutCluster(os.Environ()), environ...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var errText strings.Builder
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hammr %s: %w: %s", strings.Join(args, " "), err, lastLines(errText.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// withoutCluster is an environment that names no cluster.
func withoutCluster(environ []string) (out []string) {
	for _, e := range environ {
		if !strings.HasPrefix(e, rpc.MasterVariable+"=") && !strings.HasPrefix(e, rpc.TokenFileVariable+"=") {
			out = append(out, e)
		}
	}
	return out
}

func lastLines(text string) string { return strings.TrimSpace(text[max(0, len(text)-1000):]) }
