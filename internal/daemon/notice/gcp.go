package notice

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Paths of the metadata service of Google Compute Engine.
const (
	gcpPreemptedPath   = "/computeMetadata/v1/instance/preempted"
	gcpMaintenancePath = "/computeMetadata/v1/instance/maintenance-event"
)

// gcp asks the metadata service of Google Compute Engine. The service holds a request for the first
// of the two values until that changes.
type gcp struct {
	poller
	etag  string               // of the last value of preempted; "" before the first answer
	since map[string]time.Time // when a notice that holds was first seen, by its text
}

func newGCP(base string) *gcp {
	g := &gcp{since: make(map[string]time.Time)}
	g.poller = poller{newService(base), []value{{gcpPreemptedPath, decodePreempted}, {gcpMaintenancePath, decodeMaintenance}}, g.get}
	return g
}

// Poll implements Source.
func (g *gcp) Poll(ctx context.Context, wait time.Duration) ([]Notice, error) {
	notices, err := g.poller.Poll(ctx, wait)
	if err == nil {
		g.setDeadlines(notices, time.Now())
	}
	return notices, err
}

// get asks for a value. If the last one of preempted is known, the service waits for another.
func (g *gcp) get(ctx context.Context, path string, wait time.Duration) ([]byte, error) {
	const flavor = "Metadata-Flavor"
	q := request{path: path, headers: map[string]string{flavor: "Google"}}
	if seconds := int(wait / time.Second); g.etag != "" && seconds > 0 {
		q.path += "?" + url.Values{"wait_for_change": {"true"}, "timeout_sec": {strconv.Itoa(seconds)}, "last_etag": {g.etag}}.Encode()
		q.timeout = answerTimeout + wait.Truncate(time.Second)
	} else if err := syncutil.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	body, header, err := g.ask(ctx, q)
	if err == nil && header.Get(flavor) != "Google" {
		err = fmt.Errorf("%s: the answer is not from the metadata service of Google", path)
	}
	if path == gcpPreemptedPath {
		g.etag = header.Get("ETag") // none after an error
	}
	return body, err
}

// setDeadlines computes deadlines from when a notice was first seen: the service names times
// relative to the change of its value.
func (g *gcp) setDeadlines(notices []Notice, now time.Time) {
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
