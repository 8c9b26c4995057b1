package tasknoded

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"sync"

	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/process"
)

// clusterDirs are the directories of the cluster, as the leading master names them. The
// names of programs and of log directories come from jobs. The daemon has more rights than
// their users, so it uses no other directories for them.
type clusterDirs struct {
	resolve func(ctx context.Context, name string) (storage.FS, string, error)
	mu      struct {
		sync.Mutex
		staging, logs string // full names; "" until a master has named them
	}
}

// set stores the names that a master has sent.
func (c *clusterDirs) set(staging, logs string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.staging, c.mu.logs = staging, logs
}

func (c *clusterDirs) get() (staging, logs string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.staging, c.mu.logs
}

// checkProgram returns an error unless a name is that of the staged program with a SHA-256.
func (c *clusterDirs) checkProgram(ctx context.Context, name string, sum []byte) error {
	staging, _ := c.get()
	if staging == "" {
		return errors.New("the jobmaster has not named its staging directory; it may run an older version than this tasknode")
	}
	inside, err := c.below(ctx, staging, name)
	if err != nil {
		return err
	}
	if want := "artifacts/" + hex.EncodeToString(sum); inside != want {
		return fmt.Errorf("a tasknode runs only programs of the staging directory that are named by their SHA-256, as %s/%s", strings.TrimSuffix(staging, "/"), want)
	}
	return nil
}

// checkLogs returns an error unless a directory lies below the cluster's directory for logs.
func (c *clusterDirs) checkLogs(ctx context.Context, dir string) error {
	_, logs := c.get()
	if logs == "" {
		return errors.New("the jobmaster has named no directory for logs")
	}
	inside, err := c.below(ctx, logs, dir)
	if err == nil && inside == "" {
		err = fmt.Errorf("logs are aggregated only below %s (--job-log-dir of the masters), and not in %s", logs, dir)
	}
	return err
}

// below returns the path of a name relative to a directory, "" if it does not lie below it.
func (c *clusterDirs) below(ctx context.Context, dir, name string) (string, error) {
	outer, parent, err := c.resolve(ctx, dir)
	if err != nil {
		return "", err
	}
	inner, file, err := c.resolve(ctx, name)
	if err != nil {
		return "", err
	}
	rest, inside := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(parent), "/")+"/")
	if !inside || outer.URI() != inner.URI() {
		return "", nil
	}
	return rest, nil
}

// stagedPrograms provides the programs of the staging directory.
type stagedPrograms struct {
	process.Programs
	dirs *clusterDirs
}

// Get implements process.Programs.
func (p *stagedPrograms) Get(ctx context.Context, name string, sum []byte) (string, func(), error) {
	if err := p.dirs.checkProgram(ctx, name, sum); err != nil {
		return "", nil, fmt.Errorf("program %s: %w", name, err)
	}
	return p.Programs.Get(ctx, name, sum)
}

// openProgram opens a program in the staging directory. On a local file system anybody may
// have put a FIFO or a device there.
func (d *Daemon) openProgram(ctx context.Context, name string) (io.ReadCloser, error) {
	fsys, path, err := d.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	if _, is := fsys.(*local.FS); is {
		return tasknode.OpenRegular(path, math.MaxInt64)
	}
	return fsys.Open(ctx, path)
}
