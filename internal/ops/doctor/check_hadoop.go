package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/storage"
)

// checkHadoop reports errors in Hadoop's files, and whether the NameNodes of fs.defaultFS and of the staging
// directories accept connections.
func checkHadoop(ctx context.Context, t *Target) (found []Finding) {
	if t.ConfErr != nil {
		return []Finding{fault("correct the files of HADOOP_CONF_DIR", "%s", oneLine(t.ConfErr))}
	}
	for _, text := range t.ConfWarnings {
		found = append(found, warn("correct the files of HADOOP_CONF_DIR, or the variable", "%s", text))
	}
	if t.Conf == nil {
		return append(found, skipped("no configuration was read"))
	}
	for _, authority := range t.hdfsAuthorities() {
		found = append(found, checkNameNodes(ctx, t.Conf, authority)...)
	}
	if len(found) == 0 {
		found = append(found, ok("%s is %s; no HDFS is configured", conf.DefaultFS, t.Conf.String(conf.DefaultFS)))
	}
	return found
}

// hdfsAuthorities returns the authorities of all names on HDFS that the configuration has, each once.
func (t *Target) hdfsAuthorities() (all []string) {
	for _, name := range append([]string{t.Conf.String(conf.DefaultFS)}, stagings(t)...) {
		u, err := url.Parse(name)
		if err == nil && u.Scheme == "hdfs" && u.Host != "" && !slices.Contains(all, u.Host) {
			all = append(all, u.Host)
		}
	}
	return all
}

// stagings returns the staging directories of the masters, each once.
func stagings(t *Target) (all []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if t.View != nil && t.View.Info != nil {
		add(t.View.Info.StagingDir)
	}
	for _, d := range t.ofKind(Jobmaster) {
		add(d.Staging)
	}
	return all
}

// checkNameNodes connects to each NameNode of an HDFS. Of several, one is enough.
func checkNameNodes(ctx context.Context, c *conf.Conf, authority string) (found []Finding) {
	addresses, err := c.NameNodes(authority)
	if err != nil {
		return []Finding{fault("correct "+conf.DefaultFS+" or hdfs-site.xml", "hdfs://%s: %s", authority, oneLine(err))}
	}
	answering := 0
	for _, address := range addresses {
		took, err := connect(ctx, address)
		if err != nil {
			found = append(found, fault("start the NameNode, or correct its address or the firewall", "hdfs://%s: NameNode %s: %s", authority, address, oneLine(err)))
			continue
		}
		answering++
		found = append(found, ok("hdfs://%s: NameNode %s accepts connections after %v", authority, address, took))
	}
	for i := range found {
		if answering > 0 && found[i].State == Fault {
			found[i].State = Warn
		}
	}
	return found
}

// connectTimeout bounds the set-up of a connection.
const connectTimeout = 3 * time.Second

// connect connects to host:port and returns how long that took.
func connect(ctx context.Context, address string) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	began := time.Now()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	return time.Since(began).Round(10 * time.Microsecond), conn.Close()
}

// checkStaging writes and removes a file in a staging directory, as the user of this process.
func checkStaging(ctx context.Context, t *Target, name string) Finding {
	file, remove, err := t.probeStaging(ctx, name)
	if err == nil {
		err = remove()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warn("let the user who runs the masters make it, and let all users who submit jobs write there", "%s: does not exist; the first job makes it, for its user", name)
	case err != nil:
		return fault("let the users who submit jobs write there, or start its file system", "%s: %s", name, oneLine(err))
	}
	return ok("%s: writable (%s was made and removed)", name, path.Base(file.path))
}

// probeFile is a small file that a check has made.
type probeFile struct {
	fs   storage.FS
	path string
}

// probeStaging makes a file in a staging directory. The directory must exist.
func (t *Target) probeStaging(ctx context.Context, name string) (file probeFile, remove func() error, err error) {
	if t.Resolve == nil {
		return probeFile{}, nil, errors.New("no file system can be opened, because the configuration cannot be read")
	}
	fsys, dir, err := t.Resolve(ctx, name)
	if err != nil {
		return probeFile{}, nil, err
	}
	file = probeFile{fsys, path.Join(dir, fmt.Sprintf("%s%d", strings.TrimSuffix(probePattern, "*"), time.Now().UnixNano()))}
	w, err := fsys.Create(ctx, file.path, storage.CreateOptions{NoParents: true})
	if err != nil {
		return probeFile{}, nil, err
	}
	if _, err = w.Write([]byte("made by hammr doctor\n")); err == nil {
		err = w.Close()
	}
	if err != nil {
		return probeFile{}, nil, errors.Join(err, w.Abort())
	}
	return file, func() error { return fsys.Remove(context.WithoutCancel(ctx), file.path, false) }, nil
}
