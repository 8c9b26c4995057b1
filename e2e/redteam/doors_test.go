package redteam

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/hdfs/namenodetest"
)

// doors are attacks on what daemons show and where they connect.
func doors() []attack {
	return []attack{
		{"N7", "record in the cause of a failure, read without a token", []string{`"cause":"panic"`}, readFailure},
		{"N8", "wrong tokens from the address of a user with the right one", []string{"429 for wrong tokens, 200 for the right one"}, guessTokens},
		{"N11", "end notification at addresses of the master's machine", []string{"is of this machine, link-local or of a cloud's service"}, notifyMaster},
		{"N13", "backup of the state, and properties of a job", []string{"call=Backup object=state", "call=GetJob object="}, readSecrets},
		{"N14", "tasknode whose page is a URL", []string{`address "evil.example/x?:80" of the tasknode's page is not host:port`}, attachURL},
		{"N15", "metrics under the name of an attacker", []string{"421 this daemon does not have the name"}, rebindName},
		{"N16", "outputs on HDFS services that jobs invent", []string{"no connection is left"}, inventServices},
		{"N18", "histories of another user's hammr ui", []string{"401"}, readHistories},
	}
}

// quoted is what the hostile task "quotes" has in its failure.
const quoted = "078-05-1120"

// readFailure lets a job fail with a record in its cause.
func readFailure(t *testing.T, w *world) string {
	id, err := w.submit(t, w.spec(t, "quotes", dag.MapReduce(1, 0), "mapreduce.map.maxattempts", "1"))
	must.Do(t, err)
	s := w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
	if !strings.Contains(s.Failures[0].GetCause(), quoted) {
		t.Errorf("the failure has no record: %v", s.Failures)
	}
	root := "http://" + page(w.daemons["m1"])
	all := ""
	for _, path := range []string{"/api/v1/jobs/" + id + "/failures", "/api/v1/jobs", "/jobs/" + id, "/ws/v1/cluster/apps/application" + strings.TrimPrefix(id, "job"), "/api/v1/jobs/" + id + "/explain"} {
		answer, err := (&http.Client{Timeout: 20 * time.Second}).Get(root + path)
		must.Do(t, err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		must.Do(t, err)
		if answer.StatusCode != http.StatusOK || strings.Contains(string(text), quoted) {
			t.Errorf("%s: %s: %.2000s", path, answer.Status, text)
		}
		all += string(text)
	}
	return all
}

// guessTokens sends more wrong tokens than an address may, and then the right one.
func guessTokens(t *testing.T, w *world) string {
	try := func(token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+page(w.daemons["m3"])+"/api/v1/cluster", nil)
		must.Do(t, err)
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("eve:"+token)))
		answer, err := (&http.Client{Timeout: 20 * time.Second}).Do(r)
		must.Do(t, err)
		answer.Body.Close()
		return answer.StatusCode
	}
	last := 0
	for i := range 20 {
		last = try(fmt.Sprint("a guess ", i))
	}
	return fmt.Sprintf("%d for wrong tokens, %d for the right one", last, try(w.token))
}

// notifyMaster lets jobs name a server on each address of this machine for their end.
func notifyMaster(t *testing.T, w *world) string {
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	listener, err := net.Listen("tcp", ":0")
	must.Do(t, err)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must.Do(t, err)
	addresses, err := net.InterfaceAddrs()
	must.Do(t, err)
	refused := ""
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		must.Do(t, err)
		if ip.IsLinkLocalUnicast() {
			continue // it needs a zone
		}
		id, err := w.submit(t, w.spec(t, "quotes", dag.MapReduce(1, 0), "mapreduce.map.maxattempts", "1",
			"mapreduce.job.end-notification.url", "http://"+net.JoinHostPort(ip.String(), port)+"/$jobId"))
		must.Do(t, err)
		must.Do(t, poll(t, func() bool {
			for line := range strings.Lines(w.masterLogs(t)) {
				if strings.Contains(line, id) && strings.Contains(line, "address is refused") {
					refused = line
					return true
				}
			}
			return false
		}))
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("masters have sent %d requests to their own machine", n)
	}
	return refused
}

// masterLogs returns the logs of all masters.
func (w *world) masterLogs(t *testing.T) string {
	t.Helper()
	masters, _ := w.cluster.Names()
	var all strings.Builder
	for _, name := range masters {
		text, err := os.ReadFile(filepath.Join(w.cluster.Logs(), name+".log"))
		must.Do(t, err)
		all.Write(text)
	}
	return all.String()
}

// readSecrets reads the state and the properties of a job, with the token. The audit log has both.
func readSecrets(t *testing.T, w *world) string {
	_, err := w.cluster.Program().Run(t.Context(), "master", "backup", "--master", w.cluster.Addresses()[0], "--token-file", w.cluster.TokenFile(), filepath.Join(t.TempDir(), "backup"))
	must.Do(t, err)
	id, err := w.submit(t, w.spec(t, "quotes", dag.MapReduce(1, 0)))
	must.Do(t, err)
	_, err = docs.Status.From(t.Context(), w.masters, docs.JobID{Job: id})
	must.Do(t, err)
	var lines []string
	must.Do(t, poll(t, func() bool {
		lines = nil
		for line := range strings.Lines(w.masterLogs(t)) {
			if strings.Contains(line, "msg=audit") && (strings.Contains(line, "call=Backup") || strings.Contains(line, "call=GetJob object="+id)) {
				lines = append(lines, line)
			}
		}
		return len(lines) >= 2
	}))
	return strings.Join(lines, "")
}

// attachURL attaches a tasknode, with the token, whose page leads elsewhere.
func attachURL(t *testing.T, w *world) string {
	err := w.masters.Do(t.Context(), func(ctx context.Context, m *rpc.Master) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		stream, err := m.Attend(ctx)
		if err != nil {
			return err
		}
		joined := &wire.Report_Joined{Instance: "n66", Http: "evil.example/x?:80", MapSlots: 1}
		if err := stream.Send(&wire.Report{Machine: "n66", Report: &wire.Report_Joined_{Joined: joined}}); err != nil {
			return err
		}
		_, err = stream.Receive()
		return err
	})
	return strings.ReplaceAll(fmt.Sprint(err), `\"`, `"`)
}

// rebindName requests metrics and health as a page does whose name the attacker has pointed to a daemon.
func rebindName(t *testing.T, w *world) string {
	all := ""
	for _, name := range []string{"m1", "n1"} {
		for _, path := range []string{"/metrics", "/health"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+page(w.daemons[name])+path, nil)
			must.Do(t, err)
			r.Host = "evil.example"
			answer, err := (&http.Client{Timeout: 20 * time.Second}).Do(r)
			must.Do(t, err)
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			must.Do(t, err)
			if answer.StatusCode != http.StatusMisdirectedRequest {
				t.Errorf("%s of %s: %s", path, name, answer.Status)
			}
			all = fmt.Sprintf("%d %s", answer.StatusCode, text)
		}
	}
	return all
}

// inventServices lets jobs name many authorities of HDFS for their output, as one NameNode at many
// addresses. The masters must not keep their connections.
func inventServices(t *testing.T, w *world) string {
	const services, atOnce = 80, 10 // more than a Router keeps, and fewer than a user's unfinished jobs
	n := namenodetest.Start(t)
	for first := 0; first < services; first += atOnce {
		var ids []string
		for i := range atOnce {
			s := w.spec(t, "wait", dag.MapReduce(1, 0))
			s.OutputDir = fmt.Sprintf("hdfs://127.0.2.%d:%d/out", 1+first+i, n.Port)
			id, err := w.submit(t, s)
			must.Do(t, err)
			ids = append(ids, id)
		}
		for _, id := range ids {
			s := w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
			if s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, "permission denied") {
				t.Errorf("the job is %v: %s", s.State, s.Cause)
			}
		}
	}
	if n.Seen() < services {
		t.Errorf("%d connections for %d services", n.Seen(), services)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := n.AwaitNone(ctx); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("no connection is left of %d", n.Seen())
}

// readHistories reads the pages that alice's hammr ui serves on this machine.
func readHistories(t *testing.T, w *world) string {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ui := exec.CommandContext(ctx, hammr, "ui", "--http", "127.0.0.1:0", "--history", t.TempDir())
	ui.Env = append(os.Environ(), "HAMMR_MASTER=")
	out, err := ui.StdoutPipe()
	must.Do(t, err)
	must.Do(t, ui.Start())
	defer func() {
		cancel()
		_ = ui.Wait() // it was killed
	}()
	root, err := bufio.NewReader(out).ReadString('\n')
	must.Do(t, err)
	return get(t, strings.TrimSpace(root)+"/api/v1/history")
}
