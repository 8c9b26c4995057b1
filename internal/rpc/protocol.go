package rpc

import (
	"fmt"
	"net/http"
	"time"
)

// Version is that of the messages in package wire. Programs of different
// versions do not speak to each other.
const Version = "1"

// Headers of every call; the answer carries HeaderProtocol.
const (
	HeaderCluster  = "Hammr-Cluster"
	HeaderProtocol = "Hammr-Protocol"
	headerToken    = "Authorization"
	bearer         = "Bearer "
)

// MaxMessageBytes is the size of the largest message that a master takes.
const MaxMessageBytes = 64 << 20

// MaxJobBytes is the size of the largest job, its splits and program aside,
// which becomes an entry of the masters' log.
const MaxJobBytes = 8 << 20

// JobTooLarge is the error about a job of that many bytes.
func JobTooLarge(bytes int) error {
	return fmt.Errorf("configuration and properties of the job: %.1f MiB, more than the %d MiB that a cluster takes; give large data to tasks as side files (-files)",
		float64(bytes)/(1<<20), MaxJobBytes>>20)
}

// maxAnswerBytes is the size of the largest message that a caller takes: the
// status of a job with a million tasks.
const maxAnswerBytes = 512 << 20

// A peer that is silent for pingAfter is pinged, and given up when it does not
// answer within pingTimeout.
const (
	pingAfter    = 2 * time.Second
	pingTimeout  = 2 * time.Second
	writeTimeout = 10 * time.Second // for a connection that takes no bytes
)

func http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: 1000,
		SendPingTimeout:      pingAfter,
		PingTimeout:          pingTimeout,
		WriteByteTimeout:     writeTimeout,
	}
}

// SetHeaders puts on a call what every call carries. clusterID is "" for a caller that
// does not know it.
func SetHeaders(h http.Header, token, clusterID string) {
	h.Set(HeaderProtocol, Version)
	h.Set(HeaderCluster, clusterID)
	h.Set(headerToken, bearer+token)
}

// Token is the token that a call shows, "" for none.
func Token(h http.Header) string {
	text := h.Get(headerToken)
	if len(text) < len(bearer) || text[:len(bearer)] != bearer {
		return ""
	}
	return text[len(bearer):]
}
