package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
)

// web asks the pages of daemons. It keeps no connections, since each daemon is asked only a few times, and uses no
// proxy.
var web = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Limits of the answer of a page.
const (
	pageTimeout = 3 * time.Second
	pageBytes   = 8 << 20
)

// answer is the answer of a page.
type answer struct {
	status        int
	header        http.Header
	body          string
	before, after time.Time // when the request began, and when the header had arrived
}

// get asks a daemon at host:port. An answer with another status than 200 is no error.
func get(ctx context.Context, address, path string) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	a := &answer{before: time.Now()}
	response, err := web.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() // nothing is written
	a.after, a.status, a.header = time.Now(), response.StatusCode, response.Header
	body, err := io.ReadAll(io.LimitReader(response.Body, pageBytes))
	a.body = string(body)
	return a, err
}

// askMaster asks the RPC address of a master, without the token. Its answer says that it is a master, which
// protocol it uses, and what time it has.
func askMaster(ctx context.Context, address string) (*answer, error) {
	a, err := get(ctx, address, "/")
	if err == nil && a.header.Get(rpc.HeaderProtocol) == "" {
		err = fmt.Errorf("%s is no jobmaster, but another HTTP server", address)
	}
	return a, err
}

// dialable returns an address at which this machine reaches a daemon of its own.
func dialable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// runs reports whether the daemon runs on this machine and has its page at the configured address.
func (d *Daemon) runs(ctx context.Context) bool {
	return pageBelongsTo(ctx, dialable(d.HTTP), d.Kind, d.Name)
}

// pageBelongsTo reports whether a page is that of a daemon. Its answers have a header with the kind and the name; in
// older versions, the front page begins with them:
//
//	jobmaster m1 of cluster 1763700000000
//	tasknode n1
func pageBelongsTo(ctx context.Context, page, kind, name string) bool {
	a, err := get(ctx, page, "/")
	if err != nil {
		return false
	}
	title, _, _ := strings.Cut(a.body, "\n")
	if identity := a.header.Get(daemon.IdentityHeader); identity != "" {
		title = identity
	}
	return title == kind+" "+name || strings.HasPrefix(title, kind+" "+name+" of cluster ")
}

// metric returns a metric without labels of a page; false if the page does not answer or has none.
func metric(ctx context.Context, page, name string) (float64, bool) {
	a, err := get(ctx, page, "/metrics")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(a.body) {
		if text, found := strings.CutPrefix(line, name+" "); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return value, err == nil
		}
	}
	return 0, false
}
