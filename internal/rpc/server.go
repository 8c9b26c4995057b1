package rpc

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// NewServer returns a server for a handler of calls: HTTP/2 with and without TLS, with
// pings that detect lost callers. HTTP/1 is enabled only to answer browsers with a
// readable text. logger receives errors of connections; nil discards them. The caller
// serves and shuts down.
func NewServer(handler http.Handler, logger *slog.Logger) *http.Server {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		HTTP2:             http2Config(),
		ReadHeaderTimeout: 5 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}
