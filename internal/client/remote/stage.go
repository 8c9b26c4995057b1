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

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// stagingArea is a cluster's staging directory.
//
//	DIR/artifacts/SHA256              programs, shared by all jobs that run them
//	DIR/jobs/CLIENT-SEQUENCE/splits   splits of one submission
type stagingArea struct {
	fsys storage.FS // file system of the directory
	dir  string     // path of the directory on fsys
}

// program is a staged program.
type program struct {
	name string // full name of the file
	sum  []byte // sha256

	length int64 // bytes
}

// stageProgram puts the program into the staging area, unless it is there.
//
// The file is named after the hash of its content. So an unchanged program is staged once
// for all users. The area is checked for each job, because masters remove programs that no
// job has used for long.
func (c *Client) stageProgram(ctx context.Context, a stagingArea) (*program, error) {
	c.program.Lock()
	defer c.program.Unlock()
	if p := c.program.staged; p != nil && a.has(ctx, path.Join(a.dir, "artifacts", hex.EncodeToString(p.sum)), p.length) {
		return p, nil
	}
	f, err := c.openProgram()
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read
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
	c.program.staged = &program{storage.Name(a.fsys, file), sum, length}
	return c.program.staged, nil
}

// openProgram opens the program. On Linux it opens the file of the running process, even if
// another file has the same name now.
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

// removeSplits removes the file of splits and its directory.
func (a stagingArea) removeSplits(ctx context.Context, file string) error {
	return a.fsys.Remove(ctx, path.Dir(file), true)
}

// place writes content to a file unless the file exists with this length. Readers never see
// a partial file. If a file with this name has another length, a crash of the file system
// has damaged it, and place replaces it.
func (a stagingArea) place(ctx context.Context, file string, length int64, content io.Reader) error {
	if a.has(ctx, file, length) {
		return nil
	}
	temporary := path.Join(path.Dir(file), fmt.Sprintf(".%s.%s", path.Base(file), rand.Text()))
	err := storage.WriteFile(ctx, a.fsys, temporary, storage.CreateOptions{}, func(w io.Writer) error {
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
	case a.has(ctx, file, length): // another client has staged the file first
		err = nil
	default:
		if err = a.fsys.Remove(ctx, file, false); err == nil {
			err = a.fsys.Rename(ctx, temporary, file)
		}
	}
	return errors.Join(err, a.fsys.Remove(context.WithoutCancel(ctx), temporary, false))
}

// has reports whether the complete file exists. It compares only the length: the file is
// named after its hash, or it belongs to this submission alone.
func (a stagingArea) has(ctx context.Context, file string, length int64) bool {
	info, err := a.fsys.Stat(ctx, file)
	return err == nil && !info.IsDir && info.Size == length
}
