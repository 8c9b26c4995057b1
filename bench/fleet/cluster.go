package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testcluster"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// startMasters starts three masters, which can be broken, as processes of this machine.
func startMasters(ctx context.Context, o *Options) (*rig.Rig, error) {
	return rig.Start(ctx, rig.Config{
		Hammr: o.Hammr, Dir: filepath.Join(o.Dir, "cluster"), Masters: 3, MastersOnly: true, Expiry: o.Expiry,
		MasterFlags: append([]string{"--pprof", "--max-connections-per-address", "16384"}, o.MasterFlags...),
	})
}

// Attach starts a fleet of a cluster of this machine, and returns when all of its machines
// have joined. Config needs no addresses and no token.
func Attach(ctx context.Context, c *testcluster.Cluster, cfg Config) (*Fleet, error) {
	info, err := c.Client().Info(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Token, err = c.Token(); err != nil {
		return nil, err
	}
	cfg.Masters, cfg.ClusterID = c.Addresses(), info.ClusterId
	f, err := Start(cfg)
	if err != nil {
		return nil, err
	}
	if err := f.Await(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// submitTimeout is how long a client searches for a leader. It covers several elections of a
// loaded machine.
const submitTimeout = 2 * time.Minute

// NewClient returns a client that can submit jobs to a cluster of this machine. The program
// of the jobs is a file that no task runs.
func NewClient(c *testcluster.Cluster) (*remote.Client, error) {
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(c.Dir(), "program")
	if err := os.WriteFile(program, []byte("tasks of a fleet run no program\n"), 0o700); err != nil {
		return nil, err
	}
	fsys := local.New(local.Options{})
	return remote.New(remote.Config{
		Config: rpc.Config{Masters: c.Addresses(), Token: token, Timeout: submitTimeout}, Program: program,
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return fsys, strings.TrimPrefix(name, fsys.URI()), nil
		},
	})
}
