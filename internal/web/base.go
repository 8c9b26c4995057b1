package web

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// The pages are below the path Base of the gate, so that a proxy can serve other things beside them.
// Handlers and templates do not know it: wrapped removes it from requests, and linked and inBase
// put it in front of links and redirects.

// inBase returns the path of a page as browsers see it.
func (s *server) inBase(path string) string { return s.base + path }

// linked puts Base in front of all links of a page to these pages. Only templates can have written
// the texts that it looks for, because package html/template escapes the quotes of all values.
func (s *server) linked(page string) string {
	if s.base == "" {
		return page
	}
	in := s.inBase("/")
	return strings.NewReplacer(` href="/`, ` href="`+in, ` action="/`, ` action="`+in, ` src="/`, ` src="`+in).Replace(page)
}

// compressedTypes are the types of answers that are compressed. An event stream is not one: it must
// not wait in a buffer.
var compressedTypes = []string{"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "application/json", "application/problem+json", "image/svg+xml"}

// wrapped returns the handler of all paths with what every answer gets: compression, and Base.
func (s *server) wrapped(paths http.Handler) http.Handler {
	compress, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressedTypes), gzhttp.EnableZstd(false))
	if err != nil {
		panic("web: options of gzip: " + err.Error()) // they are constant
	}
	handler := http.Handler(compress(paths))
	if s.base == "" {
		return handler
	}
	below := http.NewServeMux()
	below.Handle(s.inBase("/"), http.StripPrefix(s.base, handler))
	below.Handle("GET /{$}", http.RedirectHandler(s.inBase("/"), http.StatusSeeOther))
	return below
}
