package access

import (
	"net/http"
	"strconv"
	"time"
)

// Refusal is the error of a request that is refused. It is safe to show to the caller.
type Refusal struct {
	// Status is the status of the answer: 401, 403, 413, 421 or 429.
	Status int
	// Text says what is wrong and what helps.
	Text string
	// RetryAfter is after how long the caller may try again, rounded up to seconds; 0 if time does
	// not help.
	RetryAfter time.Duration
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// SetHeaders sets the headers that go with a refusal: the time after which to try again, and
// how to sign in. Basic is accepted and not offered, because a browser would ask for a password,
// keep it, and send it with each request.
func (r *Refusal) SetHeaders(h http.Header) {
	if r.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(wholeSeconds(r.RetryAfter), 10))
	}
	if r.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="hammr"`)
	}
}

// wholeSeconds rounds up to seconds.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// writePlain answers a refusal as text.
func writePlain(w http.ResponseWriter, _ *http.Request, refusal *Refusal) {
	http.Error(w, refusal.Text, refusal.Status)
}
