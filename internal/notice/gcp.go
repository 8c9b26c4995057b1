package notice

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hammr/hammr/internal/syncutil"
)

// Paths of the metadata service of Google Compute Engine.
const (
	gcpPreemptedPath   = "/computeMetadata/v1/instance/preempted"
	gcpMaintenancePath = "/computeMetadata/v1/instance/maintenance-event"
)

// GCP asks the metadata service of Google Compute Engine. The service holds a request for the first
// of the two values until that changes.
type GCP struct {
	*service
	etag  string               // of the last value of preempted; "" before the first answer
	since map[string]time.Time // when a notice that holds was first seen, by its text
}

// NewGCP makes a Source for Compute Engine. base is Address, except in tests.
func NewGCP(base string) *GCP {
	return &GCP{service: newService(base), since: make(map[string]time.Time)}
}

// Poll implements Source.
func (g *GCP) Poll(ctx context.Context, wait time.Duration) ([]Notice, error) {
	preempted, err := g.preempted(ctx, wait)
	if err != nil {
		return nil, err
	}
	event, _, err := g.get(ctx, gcpMaintenancePath, 0)
	if err != nil {
		return nil, err
	}
	notices, err := decodeGCP(preempted, event)
	if err != nil {
		return nil, err
	}
	g.setDeadlines(notices, time.Now())
	return notices, nil
}

// preempted returns the value of preempted when it has changed, or after a time.
func (g *GCP) preempted(ctx context.Context, wait time.Duration) (string, error) {
	path := gcpPreemptedPath
	seconds := int(wait / time.Second)
	if g.etag == "" || seconds == 0 {
		seconds = 0
		if err := syncutil.Sleep(ctx, wait); err != nil {
			return "", err
		}
	} else {
		path += "?" + url.Values{"wait_for_change": {"true"}, "timeout_sec": {strconv.Itoa(seconds)}, "last_etag": {g.etag}}.Encode()
	}
	value, header, err := g.get(ctx, path, time.Duration(seconds)*time.Second)
	if err != nil {
		g.etag = ""
		return "", err
	}
	g.etag = header.Get("ETag")
	return value, nil
}

// get asks for a value. The service may take longer than usual, by the time that is given.
func (g *GCP) get(ctx context.Context, path string, longer time.Duration) (string, http.Header, error) {
	const flavor = "Metadata-Flavor"
	body, header, err := g.ask(ctx, request{path: path, headers: map[string]string{flavor: "Google"}, timeout: answerTimeout + longer})
	if err == nil && header.Get(flavor) != "Google" {
		err = fmt.Errorf("%s: the answer is not from the metadata service of Google", path)
	}
	return string(body), header, err
}

// setDeadlines computes deadlines from when a notice was first seen: the service names times
// relative to the change of its value.
func (g *GCP) setDeadlines(notices []Notice, now time.Time) {
	present := make(map[string]time.Time)
	for i := range notices {
		n := &notices[i]
		at, known := g.since[n.Text]
		if !known {
			at = now
		}
		present[n.Text] = at
		n.Deadline = at.Add(gcpTime(n.Kind))
	}
	g.since = present
}

// Acknowledge implements Source. Compute Engine has no acknowledgements.
func (g *GCP) Acknowledge(context.Context, Notice) error { return nil }
