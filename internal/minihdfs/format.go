package minihdfs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// format creates the NameNode's directory, unless the cluster has one of an earlier start. A Java process would
// need seconds for that, so all clusters of a user begin with a copy of the same empty image, which is cached with
// the jars. They differ by their addresses: no DataNode finds the NameNode of another cluster.
func (c *Cluster) format(ctx context.Context) error {
	dir := filepath.Join(c.cfg.Dir, "nn")
	if isDir(dir) {
		return nil
	}
	cached := c.cachedImage()
	if isDir(cached) {
		return copyImage(dir, cached)
	}
	if err := c.nameNode.runOnce(ctx, "-format", "-force", "-nonInteractive"); err != nil {
		return err
	}
	if cached != "" {
		_ = copyImage(cached, dir) // the next cluster is formatted too
	}
	return nil
}

// cachedImage returns the directory of the cached image, which need not exist. It is "" for a cluster that may need
// another image, because its jars are the caller's.
func (c *Cluster) cachedImage() string {
	cache, err := cacheDir()
	if err != nil || os.Getenv(JarsEnv) != "" {
		return ""
	}
	return filepath.Join(cache, "formatted")
}

// copyImage copies a directory. Other processes may do it at the same time: a directory that exists is complete.
func copyImage(to, from string) error {
	temp, err := os.MkdirTemp(filepath.Dir(to), "format-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	whole := filepath.Join(temp, "nn")
	if err := os.CopyFS(whole, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Rename(whole, to); err != nil && !isDir(to) {
		return errors.Join(errors.New("minihdfs: copy of an empty image"), err)
	}
	return nil
}
