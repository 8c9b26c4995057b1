package access

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/rpc/audit"
	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// Record is a line of the audit log.
type Record = audit.Record

// Config configures a Gate.
type Config struct {
	// Token is the cluster's token; default "": the cluster has none, and every caller may do
	// everything.
	Token string
	// Cluster is the id of the cluster, a part of the cookie's name: masters of several clusters may
	// have one host, and browsers have one set of cookies for all ports of a host. Default "".
	Cluster string
	// AnonymousReaders lets callers without the token view pages, but neither read logs nor change
	// anything; default false.
	AnonymousReaders bool
	// AnonymousProfiles lets callers without the token take profiles, for the pages of a process that
	// only this machine reaches; default false.
	AnonymousProfiles bool
	// Hosts are further names by which browsers reach the pages, each with or without a port; a port
	// is ignored. localhost and the IP addresses of the machine are always accepted. Default none.
	Hosts []string
	// Secure is whether browsers use TLS, here or up to a proxy; default false.
	Secure bool
	// Proxies are the networks of proxies in front of the pages, each as 10.0.0.0/24; default none. For a
	// request from one of them, the header X-Forwarded-Proto says whether the browser uses TLS, and the
	// last address of X-Forwarded-For is that of the client. In other requests these headers do not
	// count, because anybody can send them.
	Proxies []string
	// StrictTransport is how long browsers shall remember to use TLS only, if Secure; default 0, not
	// at all. It concerns every port of the host, so it cuts off Hadoop's pages there if those have
	// no TLS.
	StrictTransport time.Duration
	// Base is the path below which browsers see the pages; default "/". It begins and ends with a
	// slash.
	Base string
	// Assets is a prefix of the paths (as in http.Request.URL.Path) of files that are the same for
	// everyone; default Base + "assets/". Requests for them have no caller and count against no limit,
	// and their answers have no cookie, so that proxies may keep them.
	Assets string
	// Requests is how many requests of one session run at a time; default 8. Streams (requests that
	// accept text/event-stream) are not among them; a session has four times as many at most.
	Requests int
	// Now returns the time; default time.Now.
	Now func() time.Time
	// Addresses returns the IP addresses of the machine; default those of its interfaces.
	Addresses func() ([]netip.Addr, error)
	// Audit gets a record of each sign-in, and of each change that is ordered, refused or not. It
	// must not block. Default none.
	Audit func(Record)
	// Refuse answers a refused request, for example by a page with a form to sign in, or by JSON. The
	// status of the answer must be that of the refusal. The headers are set already. Default: the text.
	Refuse func(http.ResponseWriter, *http.Request, *Refusal)
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	if c.Base == "" {
		c.Base = "/"
	}
	if c.Assets == "" {
		c.Assets = c.Base + "assets/"
	}
	if c.Requests == 0 {
		c.Requests = 8
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Audit == nil {
		c.Audit = func(Record) {}
	}
	if c.Refuse == nil {
		c.Refuse = writePlain
	}
}

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	errs := []error{
		validate.That(isLocalPath(c.Base) && strings.HasSuffix(c.Base, "/"), "access: Base is %q; it must be a path that begins and ends with one slash, like /hammr/", c.Base),
		validate.That(len(c.Assets) > 1 && strings.HasPrefix(c.Assets, "/") && strings.HasSuffix(c.Assets, "/"), "access: Assets is %q; it must be a path below / that begins and ends with a slash", c.Assets),
		validate.That(c.Requests > 0, "access: Requests is %d, less than 1", c.Requests),
		validate.That(c.StrictTransport >= 0, "access: StrictTransport is %v, less than 0", c.StrictTransport),
	}
	errs = append(errs, validate.That(isCookieWord(c.Cluster), "access: Cluster is %q; it may have letters, digits, -, _ and . only", c.Cluster))
	for _, text := range c.Proxies {
		_, err := netip.ParsePrefix(text)
		errs = append(errs, validate.That(err == nil, "access: proxy %q: not a network such as 10.0.0.0/24 or 10.0.0.7/32", text))
	}
	for _, name := range c.Hosts {
		errs = append(errs, validate.That(httpserver.HostOf(name) != "", "access: host %q: not a name or an IP address, with or without a port", name))
	}
	return errors.Join(errs...)
}

// isCookieWord reports whether a text can be a part of a cookie's name.
func isCookieWord(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
