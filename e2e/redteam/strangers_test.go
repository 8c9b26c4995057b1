package redteam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// strangers are attacks over the network, without the cluster's token if they need none.
func strangers() []attack {
	const tooMany = "too many connections from this address"
	pageLimit := daemon.PageLimits(nil).PerAddress
	return []attack{
		{"H9", "idle connections to the port of a master", []string{tooMany + "; see --max-connections-per-address"}, idleConnections("m1", connectionsLimit, rpcPort)},
		{"H9", "idle connections to the page of a master", []string{tooMany + "; see --http-proxies"}, idleConnections("m2", pageLimit, page)},
		{"H9", "idle connections to the shuffle port", []string{tooMany + "; see --max-connections-per-address"}, idleConnections("n1", connectionsLimit, rpcPort)},
		{"H9", "idle connections to the page of a tasknode", []string{tooMany}, idleConnections("n2", pageLimit, page)},
		{"H9", "a flood of requests for metrics", []string{"one collection"}, scrape},
		{"M3", "profile without a token", []string{"401 profiles need the cluster's token"},
			getPage("/debug/pprof/heap?debug=1")},
		{"M9", "logs without a token", []string{"401 the token is not the cluster's"}, getPage("/logs/attempt_1_0001_m_000000_0/stdout")},
		{"M8", "token file that others can read", []string{"mode 0644, other users can use it; run chmod 600"}, startWithToken(strings.Repeat("x", 32), 0o644)},
		{"M8", "token of one letter", []string{"1 bytes, a token needs 16"}, startWithToken("x", 0o600)},
		{"M9", "page of a master on another address", []string{"connection refused"}, connectToPage},
		{"M9", "submission without a token", []string{"needs its token"}, submitWithoutToken},
		{"M9", "segment without a token", []string{"401 not the token of the job in the path"}, func(t *testing.T, w *world) string {
			return get(t, "http://"+w.daemons["n1"].Address+"/shuffle/job_1_0001/attempt_1_0001_m_000000_0/file.out")
		}},
		{"N2", "page that sends the token to an address of its choice", []string{"does not prove that it has the cluster's token"}, addMaster},
		{"M9", "faults injected into a daemon without --drills", []string{"--drills"}, injectFault},
	}
}

// stranger connects from an address that no daemon uses. It counts as the same source as theirs.
var stranger = &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: 10 * time.Second}

// idleConnections returns an attack that opens more connections than an address may have. The oldest
// must be closed for being too many, and callers must be served.
func idleConnections(name string, limit int, port func(localcluster.Process) string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		const extra = 40
		p := w.daemons[name]
		setting := "http"
		if port(p) == p.Address {
			setting = "address"
		}
		before := w.refusedConnections(t, name, setting)
		openIdle(t, port(p), limit+extra)
		closed := 0
		must.Do(t, poll(t, func() bool {
			closed = w.refusedConnections(t, name, setting) - before
			return closed >= extra
		}))
		if strings.HasPrefix(name, "m") {
			_, err := w.masters.Info(t.Context())
			must.Do(t, err)
		}
		if answer := get(t, "http://"+page(p)+"/health"); answer != "200 ok" {
			t.Errorf("health of %s: %s", name, answer)
		}
		log, err := os.ReadFile(filepath.Join(w.cluster.Logs(), name+".log"))
		must.Do(t, err)
		_, line, _ := strings.Cut(string(log), "connection refused")
		_, line, _ = strings.Cut(line, `cause="`)
		line, _, _ = strings.Cut(line, `"`)
		return fmt.Sprintf("%d closed: %s", closed, line)
	}
}

// openIdle opens connections to an address at once. They stay open until the test ends, unless the daemon
// closes them.
func openIdle(t *testing.T, address string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if conn, err := stranger.DialContext(t.Context(), "tcp", address); err == nil {
				t.Cleanup(func() { conn.Close() })
			}
		})
	}
	all.Wait()
}

// refusedConnections returns how many connections a daemon has closed at a port because there were too many.
// The daemon counts those whose time without a request is over elsewhere. It collects metrics once in a second.
func (w *world) refusedConnections(t *testing.T, name, setting string) int {
	t.Helper()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + page(w.daemons[name]) + "/metrics")
	must.Do(t, err)
	text, err := io.ReadAll(answer.Body)
	must.Do(t, errors.Join(err, answer.Body.Close()))
	_, value, _ := strings.Cut(string(text), fmt.Sprintf("hammr_connections_refused_total{port=%q} ", setting))
	value, _, _ = strings.Cut(value, "\n")
	refused, err := strconv.ParseFloat(value, 64)
	must.Do(t, err)
	return int(refused)
}

// rpcPort returns the address of a master's calls, or of a tasknode's shuffle server.
func rpcPort(p localcluster.Process) string { return p.Address }

// withholdBodies returns an attack with requests that are refused, and whose bodies never come, from
// several addresses of this machine. Other clients are served meanwhile.
func withholdBodies(name string, connections int, port func(localcluster.Process) string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		address := port(w.daemons[name])
		var attackers sync.WaitGroup
		for i := range 11 {
			attackers.Go(func() {
				dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}, Timeout: 10 * time.Second}
				for range connections / 11 {
					if conn, err := dialer.DialContext(t.Context(), "tcp", address); err == nil {
						t.Cleanup(func() { conn.Close() })
						fmt.Fprintf(conn, "POST /hammr.v1.Jobmaster/Read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
					}
				}
			})
		}
		longest := w.longestJobList(t)
		attackers.Wait()
		longest = max(longest, w.longestJobList(t))
		if answer := get(t, "http://"+page(w.daemons[name])+"/health"); answer != "200 ok" {
			t.Errorf("health of %s: %s", name, answer)
		}
		return fmt.Sprintf("job list answered within %v", longest.Round(time.Millisecond))
	}
}

// longestJobList runs hammr job list some times, and returns how long the slowest has taken.
func (w *world) longestJobList(t *testing.T) (longest time.Duration) {
	t.Helper()
	for range 4 {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if _, err := w.cluster.Program().Run(ctx, "job", "list", "--master", w.cluster.Addresses()[0], "--token-file", w.cluster.TokenFile()); err != nil {
			t.Errorf("job list: %v", err)
		}
		cancel()
		longest = max(longest, time.Since(began))
	}
	return longest
}

// openSockets lets a map do the same. Its tasknode is on the machine of the masters.
func openSockets(t *testing.T, w *world) string {
	done := w.path("scratch", "sockets")
	id, err := w.submit(t, w.spec(t, "sockets", dag.MapReduce(1, 0), "redteam.address", w.cluster.Addresses()[0], "redteam.path", done))
	must.Do(t, err)
	var text []byte
	must.Do(t, poll(t, func() bool { text, err = os.ReadFile(done); return err == nil }))
	longest := w.longestJobList(t)
	must.Do(t, w.cluster.Client().Kill(t.Context(), id, "the attack is over"))
	w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
	return fmt.Sprintf("%s, job list answered within %v", text, longest.Round(time.Millisecond))
}

// addMaster signs in at a page, and lets the masters add a master at a listener of the attacker, as a page
// with a stolen cookie could do it. The listener must not get the token.
func addMaster(t *testing.T, w *world) string {
	var got bytes.Buffer
	var mu sync.Mutex
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			data := make([]byte, 64<<10)
			n, _ := conn.Read(data) // what it gets without an answer
			mu.Lock()
			got.Write(data[:n])
			mu.Unlock()
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			conn.Close()
		}
	}()
	jar, err := cookiejar.New(nil)
	must.Do(t, err)
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	root := "http://" + page(w.daemons["m1"])
	signedIn, err := browser.PostForm(root+"/login", url.Values{"token": {w.token}, "name": {"mallory"}})
	must.Do(t, err)
	signedIn.Body.Close()
	answer, err := browser.PostForm(root+"/masters/add", url.Values{"master": {"m9"}, "address": {listener.Addr().String()}})
	must.Do(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Do(t, err)
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(got.String(), w.token) || !strings.Contains(got.String(), "proof=") {
		t.Errorf("the listener got %q", got.String())
	}
	return html.UnescapeString(string(text))
}

// get sends a request without a token and returns the answer's status and its first bytes.
func get(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	must.Do(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	must.Do(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 300))
	must.Do(t, err)
	return fmt.Sprintf("%d %s", answer.StatusCode, bytes.TrimSpace(text))
}

// getPage returns an attack that requests a path of a tasknode's page, which listens on all
// addresses.
func getPage(path string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string { return get(t, "http://"+page(w.daemons["n1"])+path) }
}

// scrape requests the metrics of a master many times. Within a second they are the same.
func scrape(t *testing.T, w *world) string {
	client := &http.Client{Timeout: 20 * time.Second}
	answers := make(map[string]bool)
	began := time.Now()
	const requests = 200
	for range requests {
		answer, err := client.Get("http://" + page(w.daemons["m3"]) + "/metrics")
		must.Do(t, err)
		text, err := io.ReadAll(answer.Body)
		must.Do(t, errors.Join(err, answer.Body.Close()))
		_, text, _ = bytes.Cut(text, []byte("process_cpu_seconds_total"))
		answers[string(text)] = true
	}
	seconds := int(time.Since(began)/time.Second) + 2
	if len(answers) > seconds {
		t.Errorf("%d different answers in %d s", len(answers), seconds)
	}
	return fmt.Sprintf("%d requests: one collection a second", requests)
}

// connectToPage connects to the page of a master at an address of this machine at which it does
// not listen. The page is reachable at 127.0.0.1 only.
func connectToPage(t *testing.T, w *world) string {
	_, port, err := net.SplitHostPort(w.daemons["m1"].HTTP)
	must.Do(t, err)
	conn, err := stranger.DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.2", port))
	if err == nil {
		conn.Close()
	}
	return fmt.Sprint(err)
}

// startWithToken returns an attack that starts a tasknode with a token that it should not use.
func startWithToken(token string, mode os.FileMode) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		file := filepath.Join(t.TempDir(), "token")
		must.Do(t, os.WriteFile(file, []byte(token+"\n"), mode))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := w.cluster.Program().Run(ctx, "tasknode", "--name", "n9", "--masters", w.cluster.Addresses()[0], "--dir", t.TempDir(),
			"--address", "127.0.0.1:0", "--http", "127.0.0.1:0", "--token-file", file)
		return fmt.Sprint(err)
	}
}

// submitWithoutToken submits a job that is in order.
func submitWithoutToken(t *testing.T, w *world) string {
	masters, err := rpc.New(rpc.Config{Masters: w.cluster.Addresses()})
	must.Do(t, err)
	defer masters.Close()
	_, err = rpc.Call(t.Context(), masters, (*rpc.Master).Submit, &wire.SubmitRequest{Spec: w.spec(t, "wait", dag.MapReduce(1, 1))})
	return fmt.Sprint(err)
}

// injectFault asks a daemon for a fault, with the token.
func injectFault(t *testing.T, w *world) string {
	client := faultrpc.NewClient(w.token)
	defer client.Close()
	return fmt.Sprint(client.Clear(t.Context(), page(w.daemons["m1"])))
}

// checkLogs checks that no daemon has recovered from a panic.
func (w *world) checkLogs(t *testing.T) {
	t.Helper()
	for name := range w.daemons {
		for _, ending := range []string{".log", ".err"} {
			text, err := os.ReadFile(filepath.Join(w.cluster.Logs(), name+ending))
			must.Do(t, err)
			if i := strings.Index(string(text), "panic"); i >= 0 {
				t.Errorf("%s%s:\n%.2000s", name, ending, text[i:])
			}
		}
	}
}

// floods are attacks that fill the cluster, so they are made one after the other.
func floods() []attack {
	return []attack{
		{"N1", "bodies that never come, at the port of a master", []string{"job list answered"}, withholdBodies("m1", 12_000, rpcPort)},
		{"N1", "bodies that never come, at the page of a master", []string{"job list answered"}, withholdBodies("m2", 3000, page)},
		{"N1", "bodies that never come, at the shuffle port", []string{"job list answered"}, withholdBodies("n1", 3000, rpcPort)},
		{"N1", "10,000 sockets of a map", []string{"10000 connections tried"}, openSockets},
		{"M11", "a flood of progress and refused preemptions", []string{"312 MiB of progress were taken"}, floodTasknode},
		{"C2b", "job after job with 6000 reduces", []string{"tasks of unfinished jobs exceed the limit of 20000; raise hammr.limits.tasks"}, submitUntilRefused(6000)},
		{"C2b", "job after job", []string{"unfinished jobs of user", "exceed the limit of 30; raise hammr.limits.jobs.per.user"}, submitUntilRefused(0)},
	}
}

// submitUntilRefused returns an attack that submits jobs which never end.
func submitUntilRefused(reduces int) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		var ids []string
		var err error
		for range 2 * jobsPerUser {
			var id string
			if id, err = w.submit(t, w.spec(t, "wait", dag.MapReduce(1, reduces))); err != nil {
				break
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			must.Do(t, w.cluster.Client().Kill(t.Context(), id, "the attack is over"))
		}
		for _, id := range ids {
			w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
		}
		return fmt.Sprint(err)
	}
}
