//go:build deploy

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/netns"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// cloudHosts are the addresses of three machines, each with a network namespace of its own.
var cloudHosts = map[string]string{"m1": "10.77.0.11", "n1": "10.77.0.101", "n2": "10.77.0.102"}

// metadataAddress is where every cloud has its metadata service.
const metadataAddress = "169.254.169.254"

// metadata is the metadata service of a cloud. It has notices for n1 only, and finds out by the
// address of the caller which machine asks.
type metadata struct {
	cloud cloudService
	mu    struct {
		sync.Mutex
		notice   string    // name of the notice for n1, "" for none
		deadline time.Time // of the notice
		changed  chan struct{}
		acked    string // event that n1 has acknowledged
	}
}

// cloudService answers the requests of one cloud.
type cloudService interface {
	// answer answers a request for the machine whose notice is given, "" for none. A false result
	// is status 404.
	answer(m *metadata, r *http.Request, notice string, deadline time.Time) (body string, found bool)
}

// ServeHTTP implements http.Handler.
func (m *metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // set by the server
	m.mu.Lock()
	notice, deadline, changed := m.mu.notice, m.mu.deadline, m.mu.changed
	m.mu.Unlock()
	if host != cloudHosts["n1"] {
		notice = ""
	}
	if wait, err := time.ParseDuration(r.URL.Query().Get("timeout_sec") + "s"); err == nil {
		if r.URL.Query().Get("last_etag") == "etag-"+notice {
			select {
			case <-changed:
			case <-time.After(wait):
			case <-r.Context().Done():
			}
		}
		m.mu.Lock()
		if host == cloudHosts["n1"] {
			notice, deadline = m.mu.notice, m.mu.deadline
		}
		m.mu.Unlock()
	}
	w.Header().Set("Metadata-Flavor", "Google")
	w.Header().Set("ETag", "etag-"+notice)
	if body, found := m.cloud.answer(m, r, notice, deadline); found {
		_, _ = io.WriteString(w, body) // the caller sees a broken connection
		return
	}
	http.NotFound(w, r)
}

// give changes the notice for n1; "" withdraws it.
func (m *metadata) give(notice string, within time.Duration) (deadline time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.notice, m.mu.deadline = notice, time.Now().Add(within)
	close(m.mu.changed)
	m.mu.changed = make(chan struct{})
	return m.mu.deadline
}

func (m *metadata) acknowledged() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.acked
}

type awsService struct{}

func (awsService) answer(_ *metadata, r *http.Request, notice string, deadline time.Time) (string, bool) {
	path, token := r.URL.Path, r.Header.Get("X-aws-ec2-metadata-token")
	switch {
	case r.Method == http.MethodPut && path == "/latest/api/token" && r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "":
		return "secret", true
	case token != "secret":
		return "", false
	case path == "/latest/meta-data/events/recommendations/rebalance":
		return `{"noticeTime": "2026-11-26T08:22:00Z"}`, true // is not followed unless it is asked for
	case path == "/latest/meta-data/events/maintenance/scheduled" && notice == "maintenance":
		return fmt.Sprintf(`[{"NotBefore": %q, "Code": "system-reboot", "Description": "scheduled reboot", "EventId": "e1", "State": "active"}]`,
			deadline.UTC().Format("2 Jan 2006 15:04:05 GMT")), true
	case path == "/latest/meta-data/events/maintenance/scheduled":
		return "[]", true
	case path == "/latest/meta-data/spot/instance-action" && notice == "interruption":
		return fmt.Sprintf(`{"action": "terminate", "time": %q}`, deadline.UTC().Format(time.RFC3339)), true
	}
	return "", false
}

type gcpService struct{}

func (gcpService) answer(_ *metadata, r *http.Request, notice string, _ time.Time) (string, bool) {
	if r.Header.Get("Metadata-Flavor") != "Google" {
		return "", false
	}
	switch r.URL.Path {
	case "/computeMetadata/v1/instance/preempted":
		return map[bool]string{true: "TRUE", false: "FALSE"}[notice == "interruption"], true
	case "/computeMetadata/v1/instance/maintenance-event":
		return map[bool]string{true: "TERMINATE_ON_HOST_MAINTENANCE", false: "NONE"}[notice == "maintenance"], true
	}
	return "", false
}

type azureService struct{}

func (azureService) answer(m *metadata, r *http.Request, notice string, deadline time.Time) (string, bool) {
	if r.Header.Get("Metadata") != "true" {
		return "", false
	}
	switch r.URL.Path {
	case "/metadata/instance/compute/name":
		return "worker-1", true
	case "/metadata/scheduledevents":
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body) // checked below
			m.mu.Lock()
			m.mu.acked = string(body)
			m.mu.Unlock()
			return "", true
		}
		if notice == "" {
			return `{"DocumentIncarnation": 1, "Events": []}`, true
		}
		return fmt.Sprintf(`{"DocumentIncarnation": 2, "Events": [{"EventId": "event-%s", "EventType": %q, "EventStatus": "Scheduled", "ResourceType": "VirtualMachine",
			"Resources": ["worker-1"], "NotBefore": %q, "Description": "", "EventSource": "Platform", "DurationInSeconds": -1}]}`,
			notice, map[string]string{"interruption": "Preempt", "maintenance": "Reboot"}[notice], deadline.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")), true
	}
	return "", false
}

// TestCloudNotices runs three daemons on machines of a cloud, as far as their network shows. While a job runs,
// a maintenance is announced and withdrawn, and then the cloud takes a machine back: it is drained
// before the deadline, and killed at once. No attempt runs again, and the output is the same
// bytes.
func TestCloudNotices(t *testing.T) {
	if !isolated(t) {
		return
	}
	want, in := filepath.Join(t.TempDir(), "want"), fewWords(t, 12000, 300)
	done(t, "run", "wordcount", "--quiet", "-D", "mapreduce.job.reduces=2", in, want)
	for _, c := range []struct {
		cloud   string
		service cloudService
		within  time.Duration // from an interruption to the stop, as the cloud documents it
	}{{"aws", awsService{}, 2 * time.Minute}, {"gcp", gcpService{}, 30 * time.Second}, {"azure", azureService{}, 30 * time.Second}} {
		t.Run(c.cloud, func(t *testing.T) {
			m := startMetadata(t, c.service)
			e := newCloudEngine(t, c.cloud)
			out := filepath.Join(t.TempDir(), "out")
			j := &preempted{e, e.submit(slices.Concat([]string{"wordcount"}, lastingTasks, []string{in, out})...)}
			e.awaitTasksOn(j, "n1")
			began := time.Now()
			m.give("maintenance", 5*time.Minute)
			e.awaitNode("n1", "DECOMMISSIONED")
			t.Logf("drained %v after a maintenance was announced", time.Since(began).Round(time.Millisecond))
			m.give("", 0)
			e.awaitNode("n1", "RUNNING")
			e.awaitTasksOn(j, "n1")

			began = time.Now()
			deadline := m.give("interruption", c.within)
			e.awaitNode("n1", "DECOMMISSIONED")
			if left := time.Until(deadline); left <= 0 {
				t.Errorf("drained %v after the deadline", -left)
			}
			t.Logf("drained %v after an interruption was announced for in %v", time.Since(began).Round(time.Millisecond), c.within)
			if c.cloud == "azure" {
				waitUntil(t, "the event is acknowledged", func() bool { return strings.Contains(m.acknowledged(), `"EventId":"event-interruption"`) })
			}
			must.Do(t, e.cluster.Kill(t.Context(), "n1")) // as the cloud stops the machine
			j.succeeds()
			wantSameTree(t, out, want)
		})
	}
}

// lastingTasks make the tasks of a job last some seconds.
var lastingTasks = []string{"-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=8k",
	"-D", "hammr.debug.record.sleep=10ms", "-D", "hammr.preempt.boundary.timeout=1m"}

// isolated runs the test in a process with networks of its own. It returns false in the process
// that has only started that one.
func isolated(t *testing.T) bool {
	t.Helper()
	if rig.Isolated() {
		must.Do(t, rig.EnterIsolation())
		return true
	}
	if err := rig.CanIsolate(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v", "-test.timeout", "1h")
	rig.Isolate(cmd)
	runtime.LockOSThread() // the process ends with the thread that has started it
	defer runtime.UnlockOSThread()
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	must.Do(t, err)
	return false
}

// startMetadata makes the networks of the machines, and a metadata service at the address at
// which clouds have it.
func startMetadata(t *testing.T, service cloudService) *metadata {
	t.Helper()
	const bridge = "cloud"
	b, err := netns.New(bridge, "10.77.0.1")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, b.Remove()) })
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %q: %v: %s", args, err, out)
		}
	}
	run("addr", "add", metadataAddress+"/32", "dev", bridge)
	for name, address := range cloudHosts {
		must.Do(t, b.AddMachine(name, address))
		run("-n", name, "route", "add", metadataAddress, "dev", "eth0")
	}
	m := &metadata{cloud: service}
	m.mu.changed = make(chan struct{})
	listener, err := net.Listen("tcp", metadataAddress+":80")
	must.Do(t, err)
	server := &http.Server{Handler: m}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // returns that it was closed
	}()
	t.Cleanup(func() {
		must.Do(t, server.Close())
		<-served
	})
	return m
}

// newCloudEngine starts a jobmaster and two tasknodes that watch the notices of a cloud, each in
// the network of its machine.
func newCloudEngine(t *testing.T, cloud string) *engine {
	t.Helper()
	e := &engine{t: t, dir: filepath.Join(t.TempDir(), "cluster")}
	var err error
	e.cluster, err = testcluster.Start(t.Context(), testcluster.Config{Hammr: hammr, Config: localcluster.Config{
		Dir: e.dir, Masters: 1, Tasknodes: 2, MasterHosts: []string{cloudHosts["m1"]}, Addresses: []string{cloudHosts["n1"], cloudHosts["n2"]},
		TasknodeFlags: []string{"--cloud", cloud},
		BeforeStart:   func(name, _ string, cmd *exec.Cmd) error { return netns.RunIn(cmd, name) },
	}})
	must.Do(t, err)
	t.Cleanup(func() {
		must.Do(t, e.cluster.Close())
		e.checkEnd()
	})
	e.state, err = localcluster.ReadState(e.dir)
	must.Do(t, err)
	return e
}

// awaitTasksOn waits until tasks of a job run on a tasknode.
func (e *engine) awaitTasksOn(j *preempted, tasknode string) {
	e.t.Helper()
	waitUntil(e.t, "tasks run on "+tasknode, func() bool {
		doc := j.job(j.id)
		if doc.State != report.Running {
			e.t.Fatalf("the job is %s", doc.State)
		}
		running := slices.Concat(j.attempts(report.Map, report.Running), j.attempts(report.Reduce, report.Running))
		return slices.ContainsFunc(running, func(a report.Attempt) bool { return a.Tasknode == tasknode })
	})
}

// awaitNode waits for a state of a tasknode.
func (e *engine) awaitNode(name, state string) {
	e.t.Helper()
	waitUntil(e.t, name+" is "+state, func() bool {
		n, err := docs.Node.From(e.t.Context(), e.cluster.Client(), docs.NodeID{Node: name})
		return err == nil && n.State == state
	})
}
