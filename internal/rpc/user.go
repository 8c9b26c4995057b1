package rpc

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/hammr/hammr/internal/kit/login"
)

// HeaderUser is the header with the name that the caller claims, percent-encoded. Nothing
// proves the name: a caller with the token can claim any.
const HeaderUser = "Hammr-User"

// UnknownUser is the name of a caller that claims none.
const UnknownUser = "unknown"

// maxUserBytes bounds the name of a caller.
const maxUserBytes = 128

// userKey is the key of a user in a context.
type userKey struct{}

// WithUser returns a context whose calls claim the name of another user than Config.User: a process
// that makes a call on behalf of a browser claims the name of the browser's user.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// setUser sets the header with the name that the caller claims.
func setUser(h http.Header, name string) { h.Set(HeaderUser, url.PathEscape(name)) }

// ClaimUser sets the header with the name of the user for whom a request is made: that of WithUser, else
// login.Name().
func ClaimUser(r *http.Request) {
	name, ok := r.Context().Value(userKey{}).(string)
	if !ok {
		name = login.Name()
	}
	setUser(r.Header, name)
}

// UserOf returns the name that the caller claims. It has at most maxUserBytes and only
// printable characters.
func UserOf(h http.Header) string {
	name, err := url.PathUnescape(h.Get(HeaderUser))
	if err != nil {
		name = h.Get(HeaderUser)
	}
	if name = Printable(name, maxUserBytes); name == "" {
		return UnknownUser
	}
	return name
}

// Printable returns at most limit bytes of a text from a caller. Characters that could
// change a log or a terminal are replaced.
func Printable(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), limit)], "")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
