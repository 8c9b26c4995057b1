package notice

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Paths of the metadata service of Azure.
const (
	azureEventsPath = "/metadata/scheduledevents?api-version=2020-07-01"
	azureNamePath   = "/metadata/instance/compute/name?api-version=2021-02-01&format=text"
)

// azureFirstTimeout bounds the first request for events: it enables them for the machine, which
// takes up to two minutes.
const azureFirstTimeout = 150 * time.Second

// azure asks the metadata service of Azure.
type azure struct {
	poller
	name    string // of the machine among those that an event lists; "" before the first answer
	enabled bool   // a request for events was answered
}

func newAzure(base string) *azure {
	a := new(azure)
	a.poller = poller{newService(base), []value{
		{azureEventsPath, func(body []byte) ([]Notice, error) { return decodeAzure(body, a.name) }},
	}, a.get}
	return a
}

// get asks for events, and before the first time for the name of the machine.
func (a *azure) get(ctx context.Context, path string, wait time.Duration) ([]byte, error) {
	if err := syncutil.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	if a.name == "" {
		body, err := a.call(ctx, request{path: azureNamePath})
		if err != nil {
			return nil, err
		}
		a.name = strings.TrimSpace(string(body))
	}
	q := request{path: path}
	if !a.enabled {
		q.timeout = azureFirstTimeout
	}
	body, err := a.call(ctx, q)
	a.enabled = a.enabled || err == nil
	return body, err
}

// Acknowledge implements Source.
func (a *azure) Acknowledge(ctx context.Context, n Notice) error {
	type start struct {
		EventID string `json:"EventId"`
	}
	body, err := json.Marshal(struct{ StartRequests []start }{[]start{{n.ID}}})
	if err != nil {
		return err
	}
	_, err = a.call(ctx, request{method: http.MethodPost, path: azureEventsPath, body: body})
	return err
}

// call asks with the header that the service demands.
func (a *azure) call(ctx context.Context, q request) ([]byte, error) {
	q.headers = map[string]string{"Metadata": "true"}
	if q.body != nil {
		q.headers["Content-Type"] = "application/json"
	}
	body, _, err := a.ask(ctx, q)
	return body, err
}
