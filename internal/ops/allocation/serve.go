package allocation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/kit/meminfo"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/launch"
)

// ServeConfig says what Serve needs.
type ServeConfig struct {
	// Program is the command line of this program, without arguments. Required.
	Program []string
	// Starter starts the daemons. Required.
	Starter *procfs.Starter
	// In and Out are the connection to Run. Required.
	In  io.Reader
	Out io.Writer
}

// server runs daemons on one machine. Requests are served by the goroutine of Serve; each daemon
// has a goroutine that waits for its end.
type server struct {
	cfg     ServeConfig
	daemons []*child // in the order of their starts
	links   []string // made by this server

	out struct {
		sync.Mutex
		*json.Encoder
	}
}

// Serve serves requests until In ends or ctx does. Then it ends its daemons, latest first, and
// removes their local files.
func Serve(ctx context.Context, cfg ServeConfig) error {
	s := &server{cfg: cfg}
	s.out.Encoder = json.NewEncoder(cfg.Out)
	requests := make(chan request)
	broken := make(chan error, 1)
	go func() { // it ends with In; the process ends after Serve
		in := json.NewDecoder(cfg.In)
		for {
			var q request
			if err := in.Decode(&q); err != nil {
				broken <- err
				return
			}
			requests <- q
		}
	}()
	for {
		select {
		case q := <-requests:
			a, err := s.answer(ctx, q)
			if err != nil {
				a.Error = err.Error()
			}
			s.send(a)
		case err := <-broken:
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, s.close())
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), s.close())
		}
	}
}

// send writes an answer. If Run is gone, the end of In ends this process.
func (s *server) send(a answer) {
	s.out.Lock()
	defer s.out.Unlock()
	_ = s.out.Encode(a)
}

// answer serves a request.
func (s *server) answer(ctx context.Context, q request) (a answer, err error) {
	switch {
	case q.Open != nil:
		a.MemoryMB = machineMemory()
		a.Tree, err = s.open(ctx, *q.Open)
	case q.Port:
		a.Address, err = freeAddress()
	case len(q.Tool) > 0:
		err = s.runTool(ctx, q.Tool)
	case q.Start != nil:
		a.Ready, err = s.start(ctx, *q.Start)
	case q.Stop != "":
		err = s.stop(ctx, q.Stop)
	case q.Save != nil:
		a.Tree, err = saveTree(ctx, q.Save.From, q.Save.To)
	default:
		err = errors.New("request of another version: use the same program on all nodes")
	}
	return a, err
}

// diskDir is the directory for local files of tasks, in the directory of a tasknode.
const diskDir = "disk"

// tasksDir has the files of attempts, in a local directory of a tasknode.
const tasksDir = "local/tasks"

// open makes the directory of a daemon, empty but for saved files.
func (s *server) open(ctx context.Context, q openRequest) (treeInfo, error) {
	dir, err := s.makePlace(q.Place)
	if err != nil {
		return treeInfo{}, err
	}
	disk := filepath.Join(dir, diskDir)
	if q.Shared != "" {
		if err := os.MkdirAll(q.Shared, 0o700); err != nil {
			return treeInfo{}, err
		}
		return treeInfo{}, os.Symlink(q.Shared, disk)
	}
	if err := os.Mkdir(disk, 0o700); err != nil || q.Saved == "" {
		return treeInfo{}, err
	}
	return restoreTree(ctx, q.Saved, filepath.Join(disk, tasksDir), q.Want)
}

// makePlace makes the directory and the link of a place. What an earlier allocation has left
// there, because its machine failed, is removed. Other users know the name of the link from
// earlier allocations, so the directory has a name that they cannot have taken.
func (s *server) makePlace(p place) (dir string, err error) {
	base := os.ExpandEnv(p.Base)
	if base, err = filepath.Abs(cmp.Or(base, os.TempDir())); err != nil {
		return "", fmt.Errorf("--local-dir: %w", err)
	}
	if err := removePlace(p.Link); err != nil {
		return "", err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", fmt.Errorf("--local-dir: %w", err)
	}
	if dir, err = os.MkdirTemp(base, filepath.Base(p.Link)+"-"); err != nil {
		return "", fmt.Errorf("--local-dir: %w", err)
	}
	if err := os.Symlink(dir, p.Link); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	s.links = append(s.links, p.Link)
	return dir, nil
}

// removePlace removes a link that this user has made, and the directory that it names. Names in
// /tmp are open to all users: after the directory was removed, its name may be that of another.
func removePlace(link string) error {
	info, err := os.Lstat(link)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSymlink || !isOwn(info) {
		return fmt.Errorf("%s is not a link of this user: remove it", link)
	}
	dir, err := os.Readlink(link)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && isOwn(info) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.Remove(link)
}

// isOwn reports whether a file belongs to this user.
func isOwn(info os.FileInfo) bool {
	owner, err := owndir.Owner(info)
	return err == nil && owner == os.Geteuid()
}

// freeAddress returns a port that is free on this machine, with the machine's name. Masters need
// their address before they listen. The port is reserved until this process ends.
func freeAddress() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	free, err := launch.FreePorts("", 1)
	if err != nil {
		return "", err
	}
	return host + free[0], nil
}

// runTool runs the program to its end. The error has what it has printed.
func (s *server) runTool(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, s.cfg.Program[0], slices.Concat(s.cfg.Program[1:], args)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[:min(2, len(args))], " "), err, strings.TrimSpace(output.String()))
	}
	return nil
}

// machineMemory returns the MiB of memory of this machine, 0 if that is unknown.
func machineMemory() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return int(meminfo.Field(string(text), "MemTotal") >> 20)
}

// close ends the daemons, latest first, and removes their files.
func (s *server) close() error {
	var errs []error
	for i := len(s.daemons) - 1; i >= 0; i-- {
		errs = append(errs, s.daemons[i].end(context.Background()))
	}
	for _, link := range s.links {
		dir, err := os.Readlink(link)
		if err == nil {
			err = errors.Join(os.RemoveAll(dir), os.Remove(link))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// linkOf returns the name by which the files of a daemon are known on every machine.
func linkOf(cluster, daemon string) string {
	return filepath.Join("/tmp", "hammr-"+strconv.Itoa(os.Getuid())+"-"+cluster+"-"+daemon)
}
