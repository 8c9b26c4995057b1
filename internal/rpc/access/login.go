package access

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/rpc"
)

// Login answers POST /login. The body is a form, as a browser sends it: token, and optionally name
// (for the audit log) and to (the path to go to). If the token is right, the answer has the cookie
// and sends the browser to the path. A token in the URL is not accepted, since logs have URLs.
//
// Login panics for a request that has not passed through Handler.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request) {
	g.mustPost(w, r, func(info request) {
		r.URL.RawQuery = ""
		if err := r.ParseForm(); err != nil {
			g.Refuse(w, r, formRefusal(err))
			return
		}
		to := g.LocalPath(r.PostForm.Get("to"))
		cookies := g.cookiesFor(info.secure)
		if cookies == nil {
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		name := rpc.Printable(strings.TrimSpace(r.PostForm.Get("name")), maxNameBytes)
		if name == "" {
			name = rpc.UserOf(r.Header)
		}
		now := g.cfg.Now()
		if refusal := g.checkToken(networkOf(info.from), strings.TrimSpace(r.PostForm.Get("token")), now); refusal != nil {
			g.audit(request{caller: Caller{Name: name}, from: info.from}, Record{Call: "Login", Err: refusal})
			g.Refuse(w, r, refusal)
			return
		}
		// The session is a new one, whatever cookie the browser had.
		cookies.set(w.Header(), newSession(name, now.Truncate(time.Second)), now)
		g.audit(request{caller: Caller{Name: name, Token: true}, from: info.from}, Record{Call: "Login"})
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
}

// Logout answers POST /logout: it removes the cookie from the browser, which goes to the first page.
// Other browsers keep theirs.
//
// Logout panics for a request that has not passed through Handler.
func (g *Gate) Logout(w http.ResponseWriter, r *http.Request) {
	g.mustPost(w, r, func(info request) {
		if cookies := g.cookiesFor(info.secure); cookies != nil {
			cookies.remove(w.Header())
			if info.caller.Token {
				g.audit(info, Record{Call: "Logout"})
			}
		}
		http.Redirect(w, r, g.cfg.Base, http.StatusSeeOther)
	})
}

// mustPost calls next for a POST, and answers other methods with status 405.
func (g *Gate) mustPost(w http.ResponseWriter, r *http.Request, next func(request)) {
	info := requestOf(r.Context())
	if !info.passed {
		panic("access: a request for " + r.URL.Path + " has not passed through Gate.Handler")
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		g.Refuse(w, r, &Refusal{Status: http.StatusMethodNotAllowed, Text: "method " + r.Method + ": only POST is accepted here"})
		return
	}
	next(info)
}

// formRefusal returns the refusal for a form that cannot be read.
func formRefusal(err error) *Refusal {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &Refusal{Status: http.StatusRequestEntityTooLarge, Text: "form is too large"}
	}
	return &Refusal{Status: http.StatusBadRequest, Text: "form cannot be read; send it as application/x-www-form-urlencoded"}
}

// LocalPath returns a path below Base to which a browser may be sent, with its query. For any other
// text it returns Base, so that a link to the form cannot lead to another site.
func (g *Gate) LocalPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || !isLocalPath(text) || u.Host != "" || !strings.HasPrefix(u.Path, g.cfg.Base) || strings.Contains(u.Path+"/", "/../") {
		return g.cfg.Base
	}
	return text
}

// isLocalPath reports whether a browser takes a text as a path of the same origin. It takes //, and
// a backslash like a slash, as the begin of a host, and skips control characters.
func isLocalPath(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") &&
		!strings.ContainsFunc(text, func(r rune) bool { return r == '\\' || r <= ' ' || r == 0x7f })
}
