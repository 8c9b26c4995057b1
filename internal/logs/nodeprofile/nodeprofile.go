// Package nodeprofile takes profiles of daemons, and of attempts on tasknodes, over HTTP. A daemon
// serves a Handler, and a master calls Fetch:
//
//	POST /profile            of the daemon itself
//	POST /profile/ATTEMPT    of the process of an attempt on a tasknode
//	    ?kind=cpu&seconds=10
//
// with the cluster's token. The answer is the profile, or an error as text.
package nodeprofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc"
)

// Path is where a daemon serves profiles. A master serves it below rpc.APIRoot.
const Path = "/profile"

// maxAtOnce is how many profiles a daemon passes on at once; each may have profile.MaxBytes.
const maxAtOnce = 4

// Handler serves profiles. Use New.
type Handler struct {
	token   string
	attempt func(ctx context.Context, id string, q profile.Query) ([]byte, error)
	slots   chan struct{}
}

// New returns a handler for callers with the token. attempt takes a profile of an attempt; nil for a
// daemon without attempts. If profiles cannot be taken, it returns a profile.Refusal.
func New(token string, attempt func(ctx context.Context, id string, q profile.Query) ([]byte, error)) *Handler {
	return &Handler{token, attempt, make(chan struct{}, maxAtOnce)}
}

// Handlers returns the handler by the patterns of http.ServeMux at which a tasknode serves it.
func (h *Handler) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"POST " + Path: h, "POST " + Path + "/{attempt}": h}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !rpc.Authorized(r, h.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is not the cluster's", http.StatusUnauthorized)
		return
	}
	q, err := profile.FromValues(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		http.Error(w, fmt.Sprintf("%d other profiles are being taken there; try again when they have ended", maxAtOnce), http.StatusConflict)
		return
	}
	take := profile.Take
	if id := r.PathValue("attempt"); id != "" {
		take = func(ctx context.Context, q profile.Query) ([]byte, error) { return h.attempt(ctx, id, q) }
	}
	data, err := take(r.Context(), q)
	switch {
	case errors.As(err, new(profile.Refusal)):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(data) // the client may have disconnected
	}
}

// Fetch takes a profile at a URL of a daemon. transport adds the token; see Transport. The error is
// a profile.Refusal if the daemon does not take it.
func Fetch(ctx context.Context, transport http.RoundTripper, url string, q profile.Query) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"?"+q.Values().Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := transport.RoundTrip(request) // follows no redirection
	if err != nil {
		return nil, fmt.Errorf("profile from %s: %w", request.URL.Host, err)
	}
	defer answer.Body.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, profile.MaxBytes+1))
	switch text := strings.TrimSpace(string(data[:min(len(data), 1000)])); {
	case err != nil:
		return nil, fmt.Errorf("profile from %s: %w", request.URL.Host, err)
	case answer.StatusCode == http.StatusOK && len(data) <= profile.MaxBytes:
		return data, nil
	case answer.StatusCode == http.StatusOK:
		return nil, profile.Refusal(fmt.Sprintf("the profile from %s has more than %d bytes", request.URL.Host, profile.MaxBytes))
	case answer.StatusCode == http.StatusConflict, answer.StatusCode == http.StatusBadRequest:
		return nil, profile.Refusal(text)
	case answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusMethodNotAllowed:
		return nil, profile.Refusal(fmt.Sprintf("the daemon at %s is of an older release, which takes no profiles; upgrade it", request.URL.Host))
	default:
		return nil, fmt.Errorf("profile from %s: %s: %s", request.URL.Host, answer.Status, text)
	}
}

// Transport returns a transport to tasknodes that adds the token. It makes a connection for each
// request, because profiles are rare. clusterID may be "".
func Transport(token, clusterID string) http.RoundTripper {
	return &authorized{http.Transport{DisableKeepAlives: true, DisableCompression: true}, token, clusterID}
}

type authorized struct {
	http.Transport
	token, clusterID string
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	rpc.SetHeaders(r.Header, a.token, a.clusterID)
	return a.Transport.RoundTrip(r)
}
