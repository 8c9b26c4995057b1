package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"google.golang.org/protobuf/proto"
)

// localClient implements client.Client by direct calls to the engine's jobmaster.
//
// It has no retries: there is one master, and it leads as long as the engine runs. The master
// recognizes a submission that it knows.
type localClient struct {
	engine *Engine
	mu     struct {
		sync.Mutex
		sequence uint64
		jobs     []string // ids of all jobs; one that was submitted twice is there twice
		ended    string   // why no more jobs are accepted, "" if jobs are accepted
	}
}

// stagingScheme begins the names of staging files. These files lie in the engine's
// directory, whatever file systems the jobs use.
const stagingScheme = "hammr-staging:"

// resolve resolves staging files itself and all other files by Config.Resolve.
func (e *Engine) resolve(ctx context.Context, name string) (storage.FS, string, error) {
	if file, ok := strings.CutPrefix(name, stagingScheme); ok {
		return local.New(local.Options{}), filepath.ToSlash(filepath.Join(e.dir, file)), nil
	}
	return e.cfg.Resolve(ctx, name)
}

// Submit implements client.Client.
func (c *localClient) Submit(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) (string, error) {
	spec = proto.CloneOf(spec)
	if err := c.register(spec); err != nil {
		return "", err
	}
	if err := c.stage(spec, splits); err != nil {
		return "", fmt.Errorf("staging file of the splits: %w", err)
	}
	id, err := c.engine.master.Submit(ctx, spec)
	if err != nil {
		return "", err
	}
	return id, c.record(ctx, id)
}

// register gives a submission its identity. It returns an error if no more jobs are accepted.
func (c *localClient) register(spec *wire.JobSpec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.ended != "" {
		return fmt.Errorf("embedded: no more jobs are accepted: %s", c.mu.ended)
	}
	if spec.ClientId == "" {
		c.mu.sequence++
		spec.ClientId, spec.Sequence = "embedded", c.mu.sequence
	}
	return nil
}

// record records a job. If the engine has begun to stop, it kills the job.
func (c *localClient) record(ctx context.Context, id string) error {
	c.mu.Lock()
	c.mu.jobs = append(c.mu.jobs, id)
	ended := c.mu.ended
	c.mu.Unlock()
	if ended == "" {
		return nil
	}
	return c.engine.master.Kill(ctx, id, ended)
}

// stage writes the splits to a file, which has a directory of its own, and names the file in
// spec.
func (c *localClient) stage(spec *wire.JobSpec, splits []*taskproc.Split) error {
	data, hash, err := taskproc.EncodeSplits(splits)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(c.engine.dir, "staged-")
	if err != nil {
		return err
	}
	spec.SplitsPath, spec.SplitsHash = stagingScheme+filepath.Base(dir)+"/splits", hash
	return os.WriteFile(filepath.Join(dir, "splits"), data, 0o600)
}

// Watch implements client.Client.
func (c *localClient) Watch(ctx context.Context, jobID string, each func(*wire.JobStatus)) (*wire.JobStatus, error) {
	return c.engine.master.Watch(ctx, jobID, each)
}

// Kill implements client.Client.
func (c *localClient) Kill(ctx context.Context, jobID, cause string) error {
	return c.engine.master.Kill(ctx, jobID, cause)
}

// stop kills every job and accepts no more.
func (c *localClient) stop(cause string) {
	c.mu.Lock()
	if c.mu.ended == "" {
		c.mu.ended = cause
	}
	c.mu.Unlock()
	c.engine.master.KillAll(cause)
}

// waitJobs waits until every job is over.
func (c *localClient) waitJobs() {
	c.mu.Lock()
	jobs := slices.Clone(c.mu.jobs)
	c.mu.Unlock()
	for _, id := range jobs {
		if _, err := c.engine.master.Watch(context.Background(), id, nil); err != nil {
			c.engine.cfg.Logger.Error("cannot watch a job to its end", "job", id, "error", err)
		}
	}
}
