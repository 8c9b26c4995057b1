package hadoop

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
)

// Node is a tasknode as the paths of a NodeManager show it.
type Node struct {
	ID        string // host:port
	Slots     int32  // that it offers
	Unhealthy string // what is wrong with the machine, "" for nothing
	Started   time.Time
	Now       time.Time
	Attempts  []NodeAttempt // that have not ended
}

// NodeAttempt is an attempt on a tasknode.
type NodeAttempt struct {
	ID       cluster.AttemptID
	User     string
	MemoryMB int64    // its limit; 0 for the default
	Logs     []string // names of its logs
}

// NodePaths are the patterns of http.ServeMux for NodeManager.
var NodePaths = []string{"GET /ws/v1/node", "GET /ws/v1/node/"}

// NodeManager answers the paths of a NodeManager on a tasknode. describe returns the tasknode, and allow
// whether a request has the token.
func NodeManager(describe func(context.Context) (*Node, error), allow func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	serve := func(path string, answer func(*nodeCall) *document) {
		mux.HandleFunc("GET /ws/v1/node"+path, func(w http.ResponseWriter, r *http.Request) {
			n, err := describe(r.Context())
			if err != nil {
				Fail(w, r, http.StatusServiceUnavailable, err)
				return
			}
			_ = answer(&nodeCall{n, r}).send(w, r) // the client may have disconnected
		})
	}
	serve("", nodeInfo)
	serve("/info", nodeInfo)
	serve("/apps", nodeApps)
	serve("/apps/{app}", nodeApp)
	serve("/containers", nodeContainers)
	serve("/containers/{container}", nodeContainer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allow(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="hammr"`)
			Fail(w, r, http.StatusUnauthorized, errNoToken)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

var errNoToken = &failure{http.StatusUnauthorized, "org.apache.hadoop.security.AccessControlException", "the token of the cluster is missing; send it as the password of any user"}

// nodeCall is a request to a tasknode.
type nodeCall struct {
	*Node
	r *http.Request
}

func nodeInfo(c *nodeCall) *document {
	host, _, _ := net.SplitHostPort(c.ID)
	return &document{root: "nodeInfo", body: object{
		{"healthReport", c.Unhealthy}, {"totalVmemAllocatedContainersMB", c.Slots * SlotMB}, {"totalPmemAllocatedContainersMB", c.Slots * SlotMB},
		{"totalVCoresAllocatedContainers", c.Slots}, {"vmemCheckEnabled", false}, {"pmemCheckEnabled", false}, {"lastNodeUpdateTime", c.Now.UnixMilli()},
		{"resourceTypes", "memory-mb (unit=Mi), vcores"}, {"nodeHealthy", c.Unhealthy == ""}, {"nodeManagerVersion", version}, {"nodeManagerBuildVersion", version + " by hammr"},
		{"nodeManagerVersionBuiltOn", buildTime()}, {"hadoopVersion", version}, {"hadoopBuildVersion", version + " by hammr"}, {"hadoopVersionBuiltOn", buildTime()},
		{"id", c.ID}, {"nodeHostName", host}, {"nmStartupTime", c.Started.UnixMilli()},
	}}
}

// apps returns the applications with attempts on the tasknode.
func (c *nodeCall) apps() (all []object) {
	attempts := slices.Clone(c.Attempts)
	for len(attempts) > 0 {
		first := attempts[0]
		var containers []string
		attempts = slices.DeleteFunc(attempts, func(a NodeAttempt) bool {
			if a.ID.Task.Job != first.ID.Task.Job {
				return false
			}
			containers = append(containers, containerOf(a.ID))
			return true
		})
		all = append(all, object{{"id", appOf(first.ID.Task.Job.String())}, {"state", "RUNNING"}, {"user", first.User}, {"containerids", containers}})
	}
	return all
}

// nodeApps answers with the applications. The parameters state and user select some.
func nodeApps(c *nodeCall) *document {
	q := c.r.URL.Query()
	all := slices.DeleteFunc(c.apps(), func(app object) bool {
		return q.Get("state") != "" && !strings.EqualFold(q.Get("state"), "RUNNING") || q.Get("user") != "" && app[2].value != q.Get("user")
	})
	return &document{root: "apps", body: object{{"app", all}}}
}

func nodeApp(c *nodeCall) *document {
	id := c.r.PathValue("app")
	if _, err := jobOfApp(id); err != nil {
		return failureOf(err, 0).document()
	}
	for _, app := range c.apps() {
		if app[0].value == id {
			return &document{root: "app", body: app}
		}
	}
	return failureOf(notFound("app with id %s not found", id), 0).document()
}

func (c *nodeCall) container(a *NodeAttempt) object {
	id, memory := containerOf(a.ID), a.MemoryMB
	if memory == 0 {
		memory = SlotMB
	}
	return object{
		{"id", id}, {"state", "RUNNING"}, {"exitCode", -1000}, {"diagnostics", ""}, {"user", a.User}, {"totalMemoryNeededMB", memory}, {"totalVCoresNeeded", 1},
		{"executionType", "GUARANTEED"}, {"containerLogsLink", "http://" + c.r.Host + "/logs/" + a.ID.String()}, {"nodeId", c.ID}, {"containerLogFiles", a.Logs},
	}
}

func nodeContainers(c *nodeCall) *document {
	var rows []object
	for i := range c.Attempts {
		rows = append(rows, c.container(&c.Attempts[i]))
	}
	return &document{root: "containers", body: object{{"container", rows}}}
}

func nodeContainer(c *nodeCall) *document {
	id := c.r.PathValue("container")
	if !strings.HasPrefix(id, "container_") {
		return failureOf(badRequest("java.lang.Exception: invalid container id, %s", id), 0).document()
	}
	for i := range c.Attempts {
		if a := &c.Attempts[i]; containerOf(a.ID) == id {
			return &document{root: "container", body: c.container(a)}
		}
	}
	return failureOf(notFound("container with id, %s, not found", id), 0).document()
}
