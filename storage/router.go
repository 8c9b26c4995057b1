package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/kit/login"
)

// Opener opens the file system of an authority: "host:port", the name of a nameservice, or
// "".
type Opener func(ctx context.Context, authority string) (FS, error)

// Config configures a Router.
type Config struct {
	// Default is the file system of names without a scheme, as in fs.defaultFS:
	// "hdfs://host:port" or "file:///". Default "file:///".
	Default string
	// User owns /user/NAME, the directory of relative names on HDFS. Default login.Name.
	User string
	// WorkDir is the directory of relative local names. Default: the working directory of
	// the process.
	WorkDir string
	// Open maps each supported scheme to its Opener.
	Open map[string]Opener
}

// Router resolves the names that users type to a file system and a path. It opens each file
// system once, when it is first used, and closes it in Close. It is safe for concurrent use.
//
// The names of jobs choose the authorities, so it keeps at most maxOpen file systems, and forgets those
// that could not be opened. Beyond that it forgets the least recently used one, which it does not close:
// an operation may use it. An HDFS client closes its connections when they are idle.
//
//	in          relative to WorkDir, or to /user/NAME on HDFS
//	/in         on the default file system
//	file:/in, file:///in, hdfs://nn:8020/in, hdfs://nameservice/in, mem:///in
//	hdfs:///in  on the default file system, which must have this scheme
//
// mu guards only the map. Opening a file system may take long, so each has a lock of its own;
// the order is Router.mu, then opened.mu, and no call holds both while it opens.
type Router struct {
	conf Config
	// scheme and authority of Config.Default
	scheme, authority string
	mu                struct {
		sync.Mutex
		open  map[string]*opened // file systems by scheme://authority; at most maxOpen
		calls uint64             // of get
	}
}

// maxOpen bounds the file systems that a Router keeps. A cluster has a few HDFS services.
const maxOpen = 64

// opened is a file system that is open or being opened. Its lock makes concurrent callers wait
// for one open.
type opened struct {
	mu   sync.Mutex // locked while opening
	fs   FS         // nil until it is open
	used uint64     // Router.mu.calls of the last use; guarded by Router.mu
}

// NewRouter validates the configuration. It opens no file system.
func NewRouter(conf Config) (*Router, error) {
	if conf.WorkDir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("working directory: %w", err)
		}
		conf.WorkDir = dir
	}
	conf.User = cmp.Or(conf.User, login.Name())
	r := &Router{conf: conf}
	r.mu.open = map[string]*opened{}
	scheme, authority, err := r.parseDefault(conf.Default)
	if err != nil {
		return nil, fmt.Errorf("default file system %q: %w", conf.Default, err)
	}
	r.scheme, r.authority = scheme, authority
	return r, nil
}

// parseDefault parses fs.defaultFS. As in Hadoop, "local" means file:///, and a bare
// host:port means HDFS.
func (r *Router) parseDefault(name string) (scheme, authority string, err error) {
	switch {
	case name == "" || name == "local":
		name = "file:///"
	case !strings.Contains(name, ":/") && !strings.Contains(name, "/") && strings.Contains(name, ":"):
		name = "hdfs://" + name
	}
	u, ok := splitName(name)
	if !ok {
		return "", "", errors.New("a scheme is missing; write file:/// or hdfs://host:port")
	}
	return u.scheme, u.authority, r.checkScheme(u)
}

// checkScheme refuses a scheme without an Opener. It also refuses a file name with a host,
// which results from a missing slash.
func (r *Router) checkScheme(u location) error {
	if r.conf.Open[u.scheme] == nil {
		known := slices.Sorted(maps.Keys(r.conf.Open))
		return fmt.Errorf("no file system for scheme %q; known are %s", u.scheme, strings.Join(known, ", "))
	}
	if u.scheme == "file" && u.authority != "" {
		return fmt.Errorf("file names have no host; write file:///%s%s", u.authority, u.path)
	}
	return nil
}

// Resolve returns the file system and the absolute path of a name, which may be a glob. The
// path is clean: it has no "..", no "//" and no trailing slash.
func (r *Router) Resolve(ctx context.Context, name string) (FS, string, error) {
	u, err := r.locate(name)
	if err != nil {
		return nil, "", err
	}
	fsys, err := r.get(ctx, u)
	if err != nil {
		return nil, "", fmt.Errorf("path %q: %w", name, err)
	}
	if !path.IsAbs(u.path) {
		u.path = r.home(u.scheme) + "/" + u.path
	}
	return fsys, path.Clean(u.path), nil
}

// CheckName returns an error if no file system can have the name. It opens none.
func (r *Router) CheckName(name string) error {
	_, err := r.locate(name)
	return err
}

// locate divides a name, and adds what it leaves to the default file system.
func (r *Router) locate(name string) (location, error) {
	if name == "" {
		return location{}, errors.New("empty path; a file or directory has to be named")
	}
	u, full := splitName(name)
	switch {
	case !full:
		u = location{r.scheme, r.authority, name}
	case u.authority == "" && u.scheme == r.scheme:
		u.authority = r.authority
	case u.authority == "" && u.scheme == "hdfs":
		return location{}, fmt.Errorf("%s names no NameNode and the default file system is %s://%s; write hdfs://host:port%s or set fs.defaultFS",
			name, r.scheme, r.authority, u.path)
	}
	if err := r.checkScheme(u); err != nil {
		return location{}, fmt.Errorf("path %q: %w", name, err)
	}
	return u, nil
}

// home returns the directory of relative names.
func (r *Router) home(scheme string) string {
	switch scheme {
	case "file":
		return r.conf.WorkDir
	case "hdfs":
		return "/user/" + r.conf.User
	}
	return "/"
}

// get returns the file system of a location and opens it if necessary. Concurrent callers of
// the same file system wait for one open; after an error the next caller tries again.
func (r *Router) get(ctx context.Context, u location) (FS, error) {
	key := u.scheme + "://" + u.authority
	r.mu.Lock()
	if r.mu.open == nil {
		r.mu.Unlock()
		return nil, errors.New("file systems are closed already")
	}
	o := r.mu.open[key]
	if o == nil {
		if len(r.mu.open) >= maxOpen {
			r.forgetOneLocked()
		}
		o = &opened{}
		r.mu.open[key] = o
	}
	r.mu.calls++
	o.used = r.mu.calls
	r.mu.Unlock()

	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fs != nil {
		return o.fs, nil
	}
	fsys, err := r.conf.Open[u.scheme](ctx, u.authority)
	r.settle(key, o, err)
	if err != nil {
		return nil, err
	}
	o.fs = fsys
	return fsys, nil
}

// settle forgets a file system that could not be opened, and keeps one that was opened although it was
// forgotten meanwhile.
func (r *Router) settle(key string, o *opened, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kept := r.mu.open[key]; {
	case err != nil && kept == o:
		delete(r.mu.open, key)
	case err == nil && kept == nil && r.mu.open != nil:
		r.mu.open[key] = o
	}
}

// forgetOneLocked forgets the least recently used file system, other than the default one.
func (r *Router) forgetOneLocked() {
	oldest := ""
	for key, o := range r.mu.open {
		if key != r.scheme+"://"+r.authority && (oldest == "" || o.used < r.mu.open[oldest].used) {
			oldest = key
		}
	}
	delete(r.mu.open, oldest)
}

// Close closes the open file systems. Resolve fails afterwards.
func (r *Router) Close() error {
	r.mu.Lock()
	all := r.mu.open
	r.mu.open = nil
	r.mu.Unlock()
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(all)) {
		o := all[key]
		o.mu.Lock()
		if c, ok := o.fs.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
		o.mu.Unlock()
	}
	return errors.Join(errs...)
}

// Name returns the full name of a path in Hadoop's form, such as "file:/tmp/in" or
// "hdfs://nn:8020/in". Resolve accepts it.
func Name(fsys FS, name string) string {
	return strings.TrimSuffix(fsys.URI(), "//") + name
}

// CanonicalName returns a full name in a form that is equal for equal paths: the scheme and
// the authority are in lower case, and the path is clean and has no slash at its end. It does
// not know which authorities are one cluster, such as a nameservice and the address of its
// NameNode.
func CanonicalName(name string) string {
	u, full := splitName(name)
	if !full {
		return path.Clean(name)
	}
	authority := strings.ToLower(u.authority)
	if _, _, err := net.SplitHostPort(authority); u.scheme == "hdfs" && authority != "" && err != nil {
		authority += ":8020" // the default port
	}
	return u.scheme + "://" + authority + strings.TrimSuffix(path.Clean(u.path), "/")
}

// location is a parsed name. Its path is as written: it may be relative and need not be clean.
type location struct{ scheme, authority, path string }

// splitName parses a full name; ok is false for a plain path. A colon that follows a slash,
// or that no slash follows, is part of the path. Names are not percent-encoded.
func splitName(name string) (u location, ok bool) {
	scheme, rest, found := strings.Cut(name, ":")
	if !found || !validScheme(scheme) || !strings.HasPrefix(rest, "/") {
		return location{path: name}, false
	}
	u.scheme = strings.ToLower(scheme)
	if u.path, found = strings.CutPrefix(rest, "//"); !found {
		u.path = rest
		return u, true
	}
	slash := strings.IndexByte(u.path, '/')
	if slash < 0 {
		slash = len(u.path)
	}
	u.authority, u.path = u.path[:slash], u.path[slash:]
	if u.scheme == "file" && strings.EqualFold(u.authority, "localhost") {
		u.authority = "" // by RFC 8089
	}
	if u.path == "" {
		u.path = "/"
	}
	return u, true
}

// validScheme reports whether s is a scheme by RFC 3986: a letter, then letters, digits, +, -
// and dots.
func validScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return s != ""
}
