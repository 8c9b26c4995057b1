package rpc

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/rpc/httpserver"
	"github.com/hammr/hammr/internal/rpc/protocol"
)

// Protocol is the versions of the messages in package wire that this program speaks. A caller
// begins with the newest one. A master that does not accept it names its own versions, and the
// caller goes over to the newest that both speak. Version 1 had other lists of outputs; no
// release with it remains.
var Protocol = protocol.Versions{Oldest: 2, Newest: 2}

// Headers of every call. HeaderProtocol is the version that the caller speaks. The answer has it
// too, with all versions that the master accepts.
const (
	HeaderCluster  = "Hammr-Cluster"
	HeaderProtocol = "Hammr-Protocol"
	headerToken    = "Authorization"
	bearer         = "Bearer "
)

// APIRoot begins the paths of the REST API, which masters serve at their RPC addresses too.
const APIRoot = "/api/v1/"

// MaxMessageBytes is the largest message that a master accepts.
const MaxMessageBytes = 64 << 20

// MaxJobBytes is the maximum size of a job, without its splits and program. A job becomes
// one entry of the masters' log.
const MaxJobBytes = 8 << 20

// JobTooLarge returns the error for a job of this many bytes.
func JobTooLarge(bytes int) error {
	return fmt.Errorf("configuration and properties of the job: %.1f MiB, more than the %d MiB that hammr.limits.spec.bytes allows at most; give large data to tasks as side files (-files)",
		float64(bytes)/(1<<20), MaxJobBytes>>20)
}

// maxAnswerBytes is the maximum size of a message that a caller accepts. It is enough for
// the status of a job with a million tasks.
const maxAnswerBytes = 512 << 20

// A peer that is silent for pingAfter is pinged. If it does not answer within pingTimeout,
// the connection is closed.
const (
	pingAfter    = 2 * time.Second
	pingTimeout  = 2 * time.Second
	writeTimeout = 10 * time.Second // how long a connection may accept no bytes
)

// http2Config returns the settings of both ends of a connection: pings that detect a lost
// peer, and many simultaneous calls on one connection.
func http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: 1000,
		SendPingTimeout:      pingAfter,
		PingTimeout:          pingTimeout,
		WriteByteTimeout:     writeTimeout,
	}
}

// SetHeaders sets the headers that every call carries. clusterID is "" for a caller
// that does not know it. The version is the newest of Protocol.
func SetHeaders(h http.Header, token, clusterID string) {
	h.Set(HeaderProtocol, strconv.Itoa(Protocol.Newest))
	h.Set(HeaderCluster, clusterID)
	h.Set(headerToken, bearer+token)
}

// Authorized reports whether a call carries the cluster's token, and then identifies the caller's
// connection. If token is "", no call is authorized. The comparison takes the same time for every token, so that its duration does
// not reveal how much of a guessed token is right.
func Authorized(r *http.Request, token string) bool {
	text, found := strings.CutPrefix(r.Header.Get(headerToken), bearer)
	if !SameToken(text, token) || !found {
		return false
	}
	httpserver.Identify(r.Context())
	return true
}

// SameToken reports whether a caller has given the cluster's token. No text is the token "". The
// comparison takes the same time for every text.
func SameToken(text, token string) bool {
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && token != ""
}
