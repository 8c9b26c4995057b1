package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/access"
)

// watchRoutes are the streams of changes.
func watchRoutes() []*Route {
	return []*Route{{
		Path: apiRoot + "/watch", Verb: access.View, Object: "cluster", Answer: WatchEvent{}, Serve: watch,
		Params: []docs.Param{{Name: "topics", Doc: "what to watch, joined by commas: jobs, job/ID, nodes, pools, masters, scheduler"}, {Name: "after", Doc: "id of the last event, for clients that cannot send the header Last-Event-ID"}},
		Doc:    "Server-sent events that name the topics that have changed. Events: hello, at the beginning; change; reset, if changes may have been missed.",
	}}
}

// isStream reports whether the answer lasts until the client disconnects.
func (rt *Route) isStream() bool { return rt.Path == apiRoot+"/watch" }

// WatchEvent is the data of an event of a stream.
type WatchEvent struct {
	Topics []string `json:"topics"` // that have changed; of hello, none
}

const (
	// keepAlive is the time between two comments on a stream, so that proxies do not close it.
	keepAlive = 15 * time.Second
	// writeTime bounds how long a client may take to accept an event.
	writeTime = 10 * time.Second
	// maxStream is how long a stream lasts. The client connects again, and is checked again.
	maxStream = 10 * time.Minute
)

// watch starts to send changes to a client.
func watch(c *call) error {
	topics, err := parseTopics(c.params["topics"])
	if err == nil {
		err = c.mayWatch(c.ctx, topics)
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if c.r.Method == http.MethodHead {
		return nil
	}
	w, err := c.hub.join(c.ctx, topics)
	if err != nil {
		return err
	}
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		c.hub.leave(w)
		return &access.Refusal{Status: http.StatusHTTPVersionNotSupported, Text: "a stream of changes needs a connection of its own, by HTTP/1.1"}
	}
	s := &stream{server: c.server, caller: context.WithoutCancel(c.r.Context()), w: w, conn: conn, leave: access.Keep(c.ctx)}
	last := c.r.Header.Get("Last-Event-ID")
	if last == "" {
		last = c.params["after"]
	}
	c.hub.attach(w, conn)
	c.cfg.Meters.Watchers.Add(1)
	go s.run(streamHead(c.w.Header()), last)
	return nil
}

// streamHead returns the head of an answer that ends with its connection.
func streamHead(h http.Header) string {
	h.Set("X-Accel-Buffering", "no") // nginx must not collect events
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	head := new(strings.Builder)
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = h.Write(head) // a strings.Builder takes everything
	head.WriteString("\r\n")
	return head.String()
}

// mayWatch returns an error if the caller may not view one of the topics.
func (s *server) mayWatch(ctx context.Context, topics []string) error {
	for _, t := range topics {
		kind, id, _ := strings.Cut(t, "/")
		object := access.Object{Kind: strings.TrimSuffix(kind, "s"), ID: id}
		if kind == "scheduler" {
			object.Kind = "policy"
		}
		if err := s.cfg.Gate.Check(ctx, access.View, object); err != nil {
			return err
		}
	}
	return nil
}

// stream sends server-sent events to one client, whose connection it has taken from net/http: for a handler
// that does not return, that package keeps two goroutines and its buffers, 35 KB for each of up to 1,000
// clients. A stream has one goroutine, which waits until the client closes the connection. The hub ends that
// wait early, by its deadline.
type stream struct {
	*server
	caller context.Context // has the caller
	w      *watcher
	conn   net.Conn
	leave  func() // gives up the slot of the session
	err    error  // of the first write that failed
}

// run sends changes until the client or the server closes the connection. last is the id of the last event
// that the client has seen.
func (s *stream) run(head, last string) {
	defer func() {
		_ = s.conn.Close() // the client may have closed it
		s.hub.leave(s.w)
		s.cfg.Meters.Watchers.Add(-1)
		s.leave()
	}()
	_, id := s.hub.take(s.w)
	if last == "" || last == id {
		s.write(head + eventText("hello", id, nil))
	} else {
		s.write(head + eventText("reset", id, s.w.topics))
	}
	end, alive, unused := time.Now().Add(maxStream), time.Now().Add(keepAlive), make([]byte, 1)
	for s.err == nil {
		_ = s.conn.SetReadDeadline(alive) // changes from here on end Read, those before are taken now
		if changed, id := s.hub.take(s.w); len(changed) > 0 {
			if s.mayWatch(s.caller, s.w.topics) != nil {
				return
			}
			s.write(eventText("change", id, changed))
		}
		if _, err := s.conn.Read(unused); !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(end) {
			return
		}
		if time.Now().After(alive) {
			s.write(": \n\n")
			alive = time.Now().Add(keepAlive)
		}
	}
}

// eventText returns an event. A client that loses the stream connects again after a second.
func eventText(event, id string, topics []string) string {
	data, _ := json.Marshal(WatchEvent{append([]string{}, topics...)}) // it has only texts
	return fmt.Sprintf("retry: 1000\nevent: %s\nid: %s\ndata: %s\n\n", event, id, data)
}

// write sends a text. After an error it sends nothing.
func (s *stream) write(text string) {
	if s.err == nil {
		_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime)) // the connection may be closed
		_, s.err = io.WriteString(s.conn, text)
	}
}

// pageTopics has the topics of pages by the first part of their paths. A page that is not here, or
// that shows a fixed state, is not updated.
var pageTopics = map[string]string{
	"": "jobs,masters,nodes,pools", "jobs": "jobs", "nodes": "nodes", "pools": "pools", "scheduler": "scheduler", "masters": "masters",
}

// Topics returns the topics of the page, joined by commas; "" for a page that does not change by
// itself.
func (v *view) Topics() string {
	if v.r.Method != http.MethodGet || v.params["live"] != "" || v.Data == nil {
		return ""
	}
	parts := strings.Split(strings.TrimPrefix(v.route.Path, "/"), "/")
	switch first := strings.TrimSuffix(parts[0], "{$}"); {
	case first == "jobs" && len(parts) > 1 && v.params["job"] == "": // a page of an error
		return ""
	case first == "jobs" && len(parts) > 1:
		return "job/" + v.params["job"]
	case v.route.Path == "/scheduler/preview", v.params["before"] != "":
		return ""
	case v.route.Path == "/scheduler/decisions":
		return "jobs"
	case first == "pools" && len(parts) > 1: // it lists the jobs of the pool
		return "jobs,pools"
	default:
		return pageTopics[first]
	}
}

// Others returns the addresses of the pages of other masters, for a browser whose master is lost.
func (v *view) Others() (urls []string) {
	for _, m := range v.Masters.Masters {
		if m.HTTP == "" || m.HTTP == v.r.Host || v.Server == "master "+m.ID {
			continue
		}
		u := url.URL{Scheme: "http", Host: m.HTTP}
		if v.r.TLS != nil {
			u.Scheme = "https"
		}
		urls = append(urls, u.String())
	}
	return urls
}
