package live

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// blockHostsFile is the name of a JSON file. By job name, it lists the machines with the
// input of each map in order.
const blockHostsFile = "homes.json"

// Keep copies the histories of a run and the logs of the daemons into a directory, which it
// creates. If maps have read HDFS, it also writes where their input was. With these files a
// result can be examined after the cluster is removed.
func (c *Cluster) Keep(r *Run, dir string) error {
	files := r.Files
	logs, err := filepath.Glob(filepath.Join(c.Logs(), "*"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range append(files[:len(files):len(files)], logs...) {
		if err := copyFile(name, filepath.Join(dir, filepath.Base(name))); err != nil {
			return err
		}
	}
	if !r.readsHDFS() {
		return nil
	}
	data, err := json.Marshal(r.blockHosts)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, blockHostsFile), data, 0o666)
}

// readsHDFS reports whether maps have read blocks.
func (r *Run) readsHDFS() bool {
	for _, h := range r.blockHosts {
		if h != nil {
			return true
		}
	}
	return false
}

// copyFile copies a regular file, which may grow meanwhile. It skips everything but regular
// files.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
