package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/hammr/hammr/internal/rpc/access"
)

// fragmentHeader is a header of requests for a page without its head and navigation: what live.js puts
// in the place of the same parts after a change.
const fragmentHeader = "Hammr-Fragment"

// fragmentAge bounds the age of a fragment that several browsers get.
const fragmentAge = time.Second

// fragment is the part of a page that changes. It is rendered and compressed once for all browsers that
// ask for it after the same change: to compress it costs more than all else that a request does.
type fragment struct {
	sync.Mutex        // held while it is rendered, so that others wait for it
	text       []byte // nil before it is rendered; it does not change afterwards
	compressed []byte // the same by gzip
}

// set sets the text.
func (f *fragment) set(text string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	f.text = []byte(text)
	err = errors.Join(err, z.Close())
	f.compressed = b.Bytes()
	return err
}

// fragmentKey says for whom a fragment is: callers may see different things.
type fragmentKey struct {
	uri    string
	caller access.Caller
}

// fragments are those that browsers have asked for since the latest change. A request drops them all after
// fragmentAge, so that windows of a timeline that were passed take no memory.
type fragments struct {
	mu struct {
		sync.Mutex
		generation uint64    // of the latest request
		begun      time.Time // when all was empty
		all        map[fragmentKey]*fragment
	}
}

// maxFragments bounds the fragments. Beyond it, each request is rendered.
const maxFragments = 1024

// of returns the fragment of a page. Without watchers, changes are not known, so it is a new one.
func (f *fragments) of(key fragmentKey, generation uint64, watched bool) *fragment {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.generation != generation || !watched || time.Since(f.mu.begun) >= fragmentAge {
		f.mu.generation, f.mu.begun, f.mu.all = generation, time.Now(), make(map[fragmentKey]*fragment)
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
	if err := c.fill(part); err != nil || part.text == nil {
		return err // without a text, the route has answered with something else than a page
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Vary", fragmentHeader+", Accept-Encoding")
	if unchanged(c.w, c.r, part.text) {
		return nil
	}
	body := part.text
	if strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = part.compressed
	}
	_, _ = c.w.Write(body) // the client may have disconnected
	return nil
}

// fill renders a fragment, unless another request has done so.
func (c *call) fill(part *fragment) error {
	part.Lock()
	defer part.Unlock()
	if part.text != nil {
		return nil
	}
	if err := c.route.Serve(c); err != nil || c.fragment == "" {
		return err
	}
	return part.set(c.fragment)
}
