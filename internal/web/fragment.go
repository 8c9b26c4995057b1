package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/gzip"

	"github.com/hammr/hammr/internal/web/access"
)

// fragmentHeader is a header of requests for a page without its head and navigation: what live.js puts
// in the place of the same parts after a change.
const fragmentHeader = "Hammr-Fragment"

// fragmentAge bounds the age of a fragment that several browsers get.
const fragmentAge = time.Second

// fragment is the part of a page that changes. It is rendered and compressed once for all browsers
// that ask for it after the same change.
type fragment struct {
	sync.Mutex // held while it is rendered, so that others wait for it
	body       []byte
	compressed []byte
	tag        string // ETag
	rendered   time.Time
}

// fragmentKey says for whom a fragment is: callers may see different things.
type fragmentKey struct {
	uri    string
	caller access.Caller
}

// fragments are the fragments since the hub's latest change.
type fragments struct {
	mu struct {
		sync.Mutex
		generation uint64
		all        map[fragmentKey]*fragment
	}
}

// maxFragments bounds the fragments. Beyond it, each request is rendered.
const maxFragments = 1024

// of returns the fragment of a page. Without watchers, changes are not known, so it is a new one.
func (f *fragments) of(key fragmentKey, generation uint64, watched bool) *fragment {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.all == nil || f.mu.generation != generation || !watched {
		f.mu.all, f.mu.generation = make(map[fragmentKey]*fragment), generation
	}
	part := f.mu.all[key]
	if part == nil {
		part = new(fragment)
		if len(f.mu.all) < maxFragments {
			f.mu.all[key] = part
		}
	}
	return part
}

// isFragment reports whether the request is for a fragment of a page.
func (c *call) isFragment() bool {
	return c.r.Method == http.MethodGet && c.r.Header.Get(fragmentHeader) != "" && !c.route.isAPI()
}

// serveFragment answers with a fragment. The gate has checked the caller.
func (c *call) serveFragment() error {
	generation, watched := c.hub.round()
	part := c.fragments.of(fragmentKey{c.r.URL.RequestURI(), c.caller}, generation, watched)
	part.Lock()
	defer part.Unlock()
	if part.body == nil || time.Since(part.rendered) >= fragmentAge {
		c.fragment = nil
		part.rendered = time.Now()
		if err := c.route.Serve(c); err != nil {
			return err
		}
		if c.fragment == nil {
			return nil // the route has answered with something else than a page
		}
		part.set(c.fragment)
	}
	h := c.w.Header()
	h.Set("ETag", part.tag)
	h.Set("Vary", fragmentHeader+", Accept-Encoding")
	if c.r.Header.Get("If-None-Match") == part.tag {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	body := part.body
	if strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = part.compressed
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = c.w.Write(body) // the client may have disconnected
	return nil
}

// set sets the text of the fragment.
func (p *fragment) set(body []byte) {
	p.body = body
	p.tag = fmt.Sprintf(`"%016x"`, xxhash.Sum64(body))
	var compressed bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&compressed)
	_, _ = z.Write(body) // a bytes.Buffer takes everything
	_ = z.Close()
	p.compressed = compressed.Bytes()
}

// gzipWriters has unused writers, each of which takes some hundred KB.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
