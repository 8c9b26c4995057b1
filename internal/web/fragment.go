package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"reflect"
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
	sync.Mutex        // held while it is rendered, so that others wait for it
	used       uint64 // generation of the last request; guarded by fragments

	whole      encoded // its text is "" before it is rendered
	tag        string  // ETag
	generation uint64  // that it was rendered after
	rendered   time.Time
	base       string                  // ETag of the version before
	delta      encoded                 // from the version before to this one; its text is "" if there is none
	kept       map[string]renderedPart // by the names of their templates
}

// renderedPart is a part of a fragment that is rendered again only if its data has changed.
type renderedPart struct {
	data any
	html template.HTML
}

// encoded is a text that is compressed when a browser asks for that.
type encoded struct {
	text       string
	compressed []byte
}

// fragmentKey says for whom a fragment is: callers may see different things.
type fragmentKey struct {
	uri    string
	caller access.Caller
}

// fragments are those that watchers have asked for lately.
type fragments struct {
	mu struct {
		sync.Mutex
		generation uint64 // of the latest request
		all        map[fragmentKey]*fragment
	}
}

const (
	// maxFragments bounds the fragments. Beyond it, each request is rendered.
	maxFragments = 1024
	// unusedFragment is how many changes a fragment is kept without a request.
	unusedFragment = 8
)

// of returns the fragment of a page. Without watchers, changes are not known, so it is a new one.
func (f *fragments) of(key fragmentKey, generation uint64, watched bool) *fragment {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.mu.all == nil || !watched:
		f.mu.all = make(map[fragmentKey]*fragment)
	case f.mu.generation != generation:
		maps.DeleteFunc(f.mu.all, func(_ fragmentKey, part *fragment) bool { return part.used+unusedFragment < generation })
	}
	f.mu.generation = generation
	part := f.mu.all[key]
	if part == nil {
		part = &fragment{kept: make(map[string]renderedPart)}
		if len(f.mu.all) < maxFragments {
			f.mu.all[key] = part
		}
	}
	part.used = generation
	return part
}

// isFragment reports whether the request is for a fragment of a page.
func (c *call) isFragment() bool {
	return c.r.Method == http.MethodGet && c.r.Header.Get(fragmentHeader) != "" && !c.route.isAPI()
}

// serveFragment answers with a fragment, or with its delta if the browser has the version before. The gate
// has checked the caller.
func (c *call) serveFragment() error {
	generation, watched := c.hub.round()
	part := c.fragments.of(fragmentKey{c.r.URL.RequestURI(), c.caller}, generation, watched)
	part.Lock()
	defer part.Unlock()
	if part.whole.text == "" || part.generation != generation || time.Since(part.rendered) >= fragmentAge {
		c.fragment, c.kept = "", part.kept
		rendered := time.Now()
		if err := c.route.Serve(c); err != nil {
			return err
		}
		if c.fragment == "" {
			return nil // the route has answered with something else than a page
		}
		part.set(c.fragment)
		part.generation, part.rendered = generation, rendered
	}
	h := c.w.Header()
	h.Set("ETag", part.tag)
	h.Set("Vary", fragmentHeader+", Accept-Encoding, A-IM, If-None-Match")
	switch has := c.r.Header.Get("If-None-Match"); {
	case has == part.tag:
		c.w.WriteHeader(http.StatusNotModified)
	case has == part.base && part.delta.text != "" && c.r.Header.Get("A-IM") == deltaEncoding:
		h.Set("IM", deltaEncoding)
		h.Set("Delta-Base", part.base)
		c.sendEncoded(http.StatusIMUsed, "application/json", &part.delta)
	default:
		c.sendEncoded(http.StatusOK, "text/html; charset=utf-8", &part.whole)
	}
	return nil
}

// Kept renders a part of the page by the template of that name, which a page uses at most once. For a fragment
// it returns the part of the version before if the data is the same.
func (v *view) Kept(name string, data any) (template.HTML, error) {
	if last, ok := v.kept[name]; ok && reflect.DeepEqual(last.data, data) {
		return last.html, nil
	}
	var text strings.Builder
	if err := templates()[v.name].ExecuteTemplate(&text, name, data); err != nil {
		return "", err
	}
	part := renderedPart{data, template.HTML(text.String())} // a template has escaped it
	if v.kept != nil {
		v.kept[name] = part
	}
	return part.html, nil
}

// sendEncoded answers with a text, compressed if the browser accepts that.
func (c *call) sendEncoded(status int, contentType string, e *encoded) {
	c.w.Header().Set("Content-Type", contentType)
	if strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		c.w.Header().Set("Content-Encoding", "gzip")
		c.w.WriteHeader(status)
		_, _ = c.w.Write(e.gzip()) // the client may have disconnected
		return
	}
	c.w.WriteHeader(status)
	_, _ = io.WriteString(c.w, e.text)
}

// set sets the text of the fragment.
func (p *fragment) set(text string) {
	tag := fmt.Sprintf(`"%016x"`, xxhash.Sum64String(text))
	if tag == p.tag {
		return
	}
	p.base, p.delta = p.tag, encoded{}
	if p.base != "" {
		p.delta.text = deltaOf(p.whole.text, text)
	}
	p.tag, p.whole = tag, encoded{text: text}
}

// gzip returns the compressed text. The texts are short, so it does without the tables of better levels,
// which take some hundred KB.
func (e *encoded) gzip() []byte {
	if e.compressed == nil {
		var compressed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&compressed, gzip.StatelessCompression) // the level is valid
		_, _ = z.Write([]byte(e.text))                                      // a bytes.Buffer takes everything
		_ = z.Close()
		e.compressed = compressed.Bytes()
	}
	return e.compressed
}
