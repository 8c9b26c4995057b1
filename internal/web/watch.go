package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/web/access"
)

// watchRoutes are the streams of changes.
func watchRoutes() []*Route {
	return []*Route{{
		Path: apiRoot + "/watch", Verb: access.View, Object: "cluster", Answer: WatchEvent{}, Serve: watch,
		Params: []Param{{Name: "topics", Doc: "what to watch, joined by commas: jobs, job/ID, nodes, pools, masters, scheduler"}, {Name: "after", Doc: "id of the last event, for clients that cannot send the header Last-Event-ID"}},
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

// watch sends changes until the client disconnects. It is the goroutine of a watcher.
func watch(c *call) error {
	topics, err := parseTopics(c.params["topics"])
	if err == nil {
		err = c.mayWatch(topics)
	}
	if err != nil {
		return err
	}
	w, err := c.hub.join(c.ctx, topics)
	if err != nil {
		return err
	}
	c.cfg.Meters.Watchers.Add(1)
	defer func() {
		c.cfg.Meters.Watchers.Add(-1)
		c.hub.leave(w)
	}()
	s := &stream{w: c.w, control: http.NewResponseController(c.w)}
	c.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	c.w.Header().Set("X-Accel-Buffering", "no") // nginx must not collect events
	_, id := c.hub.take(w)
	last := c.r.Header.Get("Last-Event-ID")
	if last == "" {
		last = c.params["after"]
	}
	if last == "" || last == id {
		s.send("hello", id, nil)
	} else {
		s.send("reset", id, topics)
	}
	alive, end := time.NewTicker(keepAlive), time.NewTimer(maxStream)
	defer alive.Stop()
	defer end.Stop()
	for s.err == nil {
		select {
		case <-c.r.Context().Done():
			return nil
		case <-end.C:
			return nil
		case <-alive.C:
			s.write(": \n\n")
		case <-w.wake:
			if c.mayWatch(topics) != nil {
				return nil
			}
			if changed, id := c.hub.take(w); len(changed) > 0 {
				s.send("change", id, changed)
			}
		}
	}
	return nil
}

// mayWatch returns an error if the caller may not view one of the topics.
func (c *call) mayWatch(topics []string) error {
	for _, t := range topics {
		kind, id, _ := strings.Cut(t, "/")
		object := access.Object{Kind: strings.TrimSuffix(kind, "s"), ID: id}
		if kind == "scheduler" {
			object.Kind = "policy"
		}
		if err := c.cfg.Gate.Check(c.r.Context(), access.View, object); err != nil {
			return err
		}
	}
	return nil
}

// stream writes server-sent events. After an error it writes nothing.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// send sends an event. A client that loses the stream connects again after a second.
func (s *stream) send(event, id string, topics []string) {
	data, _ := json.Marshal(WatchEvent{append([]string{}, topics...)}) // it has only texts
	s.write(fmt.Sprintf("retry: 1000\nevent: %s\nid: %s\ndata: %s\n\n", event, id, data))
}

func (s *stream) write(text string) {
	if s.err != nil {
		return
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // a writer of a test has none
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.control.Flush()
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
	case v.route.Path == "/scheduler/preview", len(parts) > 1 && parts[1] == "whatif", v.params["before"] != "":
		return ""
	case v.route.Path == "/scheduler/decisions":
		return "jobs"
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
