package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// channelBuffer is how many bytes of a stream are copied at a time.
const channelBuffer = 256 << 10

// isChannel reports whether a request is about a stream between Nodes.
func isChannel(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, ChannelPrefix) }

// RemoveJob breaks the streams of a job that pass through this server.
func (s *Server) RemoveJob(job string) { s.channels.RemoveJob(job) }

// Streams returns how many streams pass through this server, or wait there for an end.
func (s *Server) Streams() int { return s.channels.Len() }

// joinStream joins the two ends of a stream: the server copies the body of one client's POST
// to another client's GET. Either client may be silent for any time, because its Node may be
// busy.
func (s *Server) joinStream(w *response, r *http.Request) error {
	id, wait, err := parseChannel(r.URL)
	if err != nil {
		return &refusal{http.StatusBadRequest, err}
	}
	_ = w.control.SetWriteDeadline(time.Time{})
	switch r.Method {
	case http.MethodPost:
		err = s.serveWriter(w, r, id, wait)
	case http.MethodGet:
		err = s.serveReader(w, r, id, wait)
	default:
		w.Header().Set("Allow", "GET, POST")
		return refuse(http.StatusMethodNotAllowed, "method %s: only GET and POST are served", r.Method)
	}
	return channelRefusal(err)
}

// channelRefusal adds the status for the client to err.
func channelRefusal(err error) error {
	switch {
	case errors.Is(err, ErrEndTaken):
		return &refusal{http.StatusConflict, err}
	case errors.Is(err, ErrPeerMissing):
		return &refusal{http.StatusGatewayTimeout, err}
	case errors.Is(err, ErrBroken):
		return &refusal{http.StatusBadGateway, err}
	}
	return err
}

// serveWriter copies the body of a writer's request to the reader. The answer, at the end,
// confirms that all of it was sent to the reader. If the writer's connection breaks, the
// stream breaks.
func (s *Server) serveWriter(w *response, r *http.Request, id ChannelID, wait time.Duration) error {
	end, err := s.channels.Send(r.Context(), id, wait)
	if err != nil {
		return err
	}
	// Do not wait for a silent writer once its stream is broken.
	stop := context.AfterFunc(end.ctx, func() { _ = w.control.SetReadDeadline(time.Now()) })
	defer stop()
	if _, err := io.CopyBuffer(end, r.Body, make([]byte, channelBuffer)); err != nil {
		end.Abort(fmt.Errorf("its writer has disconnected: %w", err))
		return context.Cause(end.ctx)
	}
	return end.Close()
}

// serveReader answers with the bytes of a stream's writer. If the stream breaks after the
// first byte, the status cannot change any more. The server then cuts the connection, and
// the reader sees a truncated answer.
func (s *Server) serveReader(w *response, r *http.Request, id ChannelID, wait time.Duration) error {
	end, err := s.channels.Receive(r.Context(), id, wait)
	if err != nil {
		return err
	}
	defer end.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(http.StatusOK)
	_ = w.control.Flush() // shows the reader that its writer is connected; an error returns below
	if _, err := io.CopyBuffer(flusher{w}, struct{ io.Reader }{end}, make([]byte, channelBuffer)); err != nil {
		panic(http.ErrAbortHandler) // the client sees a truncated answer
	}
	return nil
}

// flusher sends each write at once, because the next record may come much later.
type flusher struct{ w *response }

// Write counts the bytes. It returns when the operating system has them.
func (f flusher) Write(b []byte) (int, error) {
	n, err := f.w.ResponseWriter.Write(b)
	f.w.sent.Add(int64(n))
	if err == nil {
		err = f.w.control.Flush()
	}
	return n, err
}
