package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
)

// stagingArea is a cluster's staging directory.
//
//	DIR/artifacts/SHA256              programs, shared by all jobs that run them
//	DIR/jobs/CLIENT-SEQUENCE/splits   splits of one submission
type stagingArea struct {
	fsys storage.FS // where the cluster has it
	dir  string     // path on fsys
}

// program is a staged program.
type program struct {
	name string // full name of the file
	sum  []byte // sha256
}

// stageProgram makes sure that the program is in the staging area. It does so once.
//
// The name is the hash of the content, so an unchanged program is staged once, for all
// users.
func (c *Client) stageProgram(ctx context.Context, a stagingArea) (*program, error) {
	c.program.Lock()
	defer c.program.Unlock()
	if c.program.staged != nil {
		return c.program.staged, nil
	}
	f, err := c.openProgram()
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	hash := sha256.New()
	length, err := io.Copy(hash, f)
	if err != nil {
		return nil, err
	}
	sum := hash.Sum(nil)
	file := path.Join(a.dir, "artifacts", hex.EncodeToString(sum))
	if err := a.place(ctx, file, length, io.NewSectionReader(f, 0, length)); err != nil {
		return nil, err
	}
	c.program.staged = &program{storage.Name(a.fsys, file), sum}
	return c.program.staged, nil
}

// openProgram opens the program. On Linux it opens the file of the running process, even
// if another file has its name by now.
func (c *Client) openProgram() (*os.File, error) {
	if c.cfg.Program != "" {
		return os.Open(c.cfg.Program)
	}
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// stageSplits writes the splits to a file and names it in spec.
func (a stagingArea) stageSplits(ctx context.Context, spec *wire.JobSpec, splits []*taskproc.Split) error {
	data, hash, err := taskproc.EncodeSplits(splits)
	if err != nil {
		return err
	}
	file := path.Join(a.dir, "jobs", fmt.Sprintf("%s-%d", spec.ClientId, spec.Sequence), "splits")
	if err := a.place(ctx, file, int64(len(data)), bytes.NewReader(data)); err != nil {
		return err
	}
	spec.SplitsPath, spec.SplitsHash = storage.Name(a.fsys, file), hash
	return nil
}

// removeSplits removes a file of splits and its directory.
func (a stagingArea) removeSplits(ctx context.Context, file string) error {
	return a.fsys.Remove(ctx, path.Dir(file), true)
}

// place makes a file with this content unless it exists; readers never see a part of it.
// A file with the same name and another length was damaged by a crash of the file system
// and is replaced.
func (a stagingArea) place(ctx context.Context, file string, length int64, content io.Reader) error {
	if a.has(ctx, file, length) {
		return nil
	}
	temporary := path.Join(path.Dir(file), fmt.Sprintf(".%s.%s", path.Base(file), rand.Text()))
	err := storage.WriteFile(ctx, a.fsys, temporary, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	})
	if err != nil {
		return err
	}
	err = a.fsys.Rename(ctx, temporary, file)
	switch {
	case err == nil:
		return nil
	case a.has(ctx, file, length): // another client was faster
		err = nil
	default:
		if err = a.fsys.Remove(ctx, file, false); err == nil {
			err = a.fsys.Rename(ctx, temporary, file)
		}
	}
	return errors.Join(err, a.fsys.Remove(context.WithoutCancel(ctx), temporary, false))
}

// has reports whether a complete file is there. Only its length is compared: its name
// has the hash, or it belongs to this submission alone.
func (a stagingArea) has(ctx context.Context, file string, length int64) bool {
	info, err := a.fsys.Stat(ctx, file)
	return err == nil && !info.IsDir && info.Size == length
}
