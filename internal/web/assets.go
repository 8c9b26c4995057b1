package web

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// asset is an embedded file.
type asset struct {
	content []byte
	kind    string // content type
	url     string // with a hash of the content
}

// assets serves the embedded files. Their URLs contain a hash of their content, so browsers keep
// them.
type assets map[string]asset // by name

// icon is the icon of all pages. It is a part of them, so that a first visit needs no request for it.
const icon = "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20viewBox=%220%200%2016%2016%22%3E" +
	"%3Crect%20width=%2216%22%20height=%2216%22%20rx=%223%22%20fill=%22%231f5fa8%22/%3E" +
	"%3Cpath%20d=%22M4%203v10M12%203v10M4%208h8%22%20stroke=%22%23fff%22%20stroke-width=%222.4%22%20fill=%22none%22%20stroke-linecap=%22round%22/%3E%3C/svg%3E"

// embedded returns the assets of this program.
var embedded = sync.OnceValue(loadAssets)

func loadAssets() assets {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	all := make(assets)
	entries, _ := files.ReadDir("assets") // it is embedded
	for _, e := range entries {
		text, _ := files.ReadFile("assets/" + e.Name()) // it is embedded
		all[e.Name()] = asset{text, cmp.Or(kinds[path.Ext(e.Name())], "application/octet-stream"), fmt.Sprintf("/assets/%016x/%s", xxhash.Sum64(text), e.Name())}
	}
	return all
}

// urlOf returns the URL of an asset. An unknown one is a mistake in a template.
func (all assets) urlOf(name string) (string, error) {
	if all[name].url == "" {
		return "", fmt.Errorf("no asset %q", name)
	}
	return all[name].url, nil
}

// ServeHTTP implements http.Handler. It serves old hashes too: a page may be older than the program.
func (all assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, known := all[path.Base(r.URL.Path)]
	if !known {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "no-cache")
	if a.url == r.URL.Path {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if !unchanged(w, r, a.content) {
		_, _ = w.Write(a.content) // the client may have disconnected
	}
}

// unchanged sets the header ETag of an answer, and answers with status 304 if the client has that
// answer already. The tag is a weak one, since an answer is sent as it is and compressed.
func unchanged(w http.ResponseWriter, r *http.Request, body []byte) bool {
	tag := fmt.Sprintf(`W/"%016x"`, xxhash.Sum64(body))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
