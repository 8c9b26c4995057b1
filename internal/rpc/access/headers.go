package access

import (
	"fmt"
	"net/http"
	"time"
)

// contentSecurityPolicy lets a page load files of its own origin only, run no script that is written
// in it, and send forms nowhere else. Scripts cannot turn text into HTML, except by the Trusted Types
// policy named hammr.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types hammr"

// LogPolicy is the Content-Security-Policy for untrusted text such as a log: the browser treats it as
// a document without scripts, forms and origin. A handler of such text sets it in place of that of
// the gate.
const LogPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// permissionsPolicy takes features from pages that they do not use.
const permissionsPolicy = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), " +
	"microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()"

// setHeaders sets the headers of every answer. A handler of files that are the same for everyone
// replaces Cache-Control. secure is whether the browser uses TLS.
func setHeaders(h http.Header, cfg *Config, secure bool) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	// No other origin learns the address of a page. With no-referrer, browsers would also send forms of
	// these pages with the header Origin: null, which looks like another origin if there is no TLS.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", permissionsPolicy)
	h.Set("Cache-Control", "no-store")
	if secure && cfg.StrictTransport > 0 {
		h.Set("Strict-Transport-Security", fmt.Sprintf("max-age=%d", int64(cfg.StrictTransport/time.Second)))
	}
}
