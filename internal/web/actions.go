package web

import (
	"net"
	"net/url"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
)

// act makes the change that a request orders. Gate.Do has checked the caller.
func (c *call) act(a *docs.Action) (apidoc.Change, error) {
	change := docs.Change{Do: a.Object + "." + a.Do, ID: c.params[a.Object], User: c.user()}
	if a.Param != nil {
		change.Value = c.params[a.Param.Name]
	}
	return c.cfg.Source.Change(c.ctx, change)
}

// user returns the name of the caller with the address of the client, for the audit log of the master
// that makes the change: it sees the address of this process only.
func (c *call) user() string {
	if host, _, err := net.SplitHostPort(access.ClientOf(c.ctx)); err == nil {
		return c.caller.Name + "@" + host // without the port: rates are those of a user
	}
	return c.caller.Name
}

// pageOfChanged returns the page of the object of a change.
func (c *call) pageOfChanged(a *docs.Action) string {
	id := c.params[a.Object]
	switch a.Object {
	case "policy":
		return "/scheduler"
	case "master":
		return "/masters"
	case "attempt":
		return "/jobs/" + docs.JobOf(id) + "/tasks/" + taskOf(id)
	}
	return "/" + a.Object + "s/" + url.PathEscape(id)
}
