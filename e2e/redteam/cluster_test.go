package redteam

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// Limits of the cluster that attacks exceed, in the configuration of the masters.
const (
	tasksLimit       = 20_000
	jobsPerUser      = 30
	connectionsLimit = 1000 // from one address, at the RPC and the shuffle ports
)

// secret is the value of a variable in the environment of the daemons.
const secret = "the cloud's key"

// world is the cluster under attack with its users and their files:
//
//	DIR/cluster            the cluster
//	DIR/shared             its staging directory, histories and logs of jobs
//	DIR/precious           files that attacks want; alice's, and root's secret
//	DIR/out                output directories of jobs
//	DIR/scratch            files of mallory's tasks
type world struct {
	dir            string
	cluster        *testcluster.Cluster
	token          string
	masters        *rpc.Masters
	alice, mallory account
	daemons        map[string]localcluster.Process // as they were started
	before         map[string]string               // content of precious files by their names
	programSum     []byte                          // SHA-256 of the hostile program
}

// newWorld starts the cluster. It ends with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "redteam-")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	w := &world{dir: dir, alice: newAccount(t, "a"), mallory: newAccount(t, "m")}
	must.Do(t, os.Chmod(dir, 0o755))
	w.makeFiles(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w.cluster, err = testcluster.Start(ctx, testcluster.Config{
		Hammr: hammr, Expiry: 30 * time.Second, Heartbeat: time.Second,
		Environ: []string{"REDTEAM_SECRET=" + secret, "HADOOP_CONF_DIR=" + w.path("conf")},
		Config: localcluster.Config{
			Dir: w.path("cluster"), Masters: 3, Tasknodes: 2, MapSlots: 4, ReduceSlots: 3, BeforeStart: w.beforeStart,
			MasterFlags:   []string{"--token-file", w.mastersToken(), "--staging", "file://" + w.path("shared", "staging"), "--anonymous-readers", "--max-connections-per-address", fmt.Sprint(connectionsLimit)},
			TasknodeFlags: []string{"--own-user=false", "--max-connections-per-address", fmt.Sprint(connectionsLimit), "--http", "0.0.0.0:0", "--pprof", "--max-program", fmt.Sprint(maxProgram)},
		},
	})
	must.Do(t, err)
	t.Cleanup(func() { w.end(t) })
	w.token, err = w.cluster.Token()
	must.Do(t, err)
	w.masters, err = rpc.New(rpc.Config{Masters: w.cluster.Addresses(), Token: w.token})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, w.masters.Close()) })
	w.daemons = w.processes(t)
	return w
}

// path returns the name of a file of the test.
func (w *world) path(elements ...string) string {
	return filepath.Join(append([]string{w.dir}, elements...)...)
}

// mastersToken returns the copy of the token for the masters, which run as alice.
func (w *world) mastersToken() string { return w.path("conf", "token") }

// makeFiles makes the files of the users, the token and the configuration. Every user may stage
// files, as on an HDFS on which all may write to the staging directory.
func (w *world) makeFiles(t *testing.T) {
	t.Helper()
	for name, mode := range map[string]os.FileMode{
		"cluster": 0o755, "shared": 0o755, "shared/staging": 0o755, "shared/staging/artifacts": 0o1777, "shared/staging/jobs": 0o1777,
		"precious": 0o755, "out": 0o755, "scratch": 0o1777, "conf": 0o755, "gates": 0o755,
	} {
		must.Do(t, os.MkdirAll(w.path(name), 0o755))
		special := mode & 0o777
		if mode&0o1000 != 0 {
			special |= os.ModeSticky
		}
		must.Do(t, os.Chmod(w.path(name), special))
		if name != "cluster" { // root trusts it
			w.alice.own(t, w.path(name))
		}
	}
	w.before = map[string]string{w.path("precious", "splits"): "splits of the past\n", w.path("precious", "part"): "12345", w.path("precious", "secret"): "root only\n"}
	for i := range 50 {
		w.before[w.path("victim", fmt.Sprintf("f%d", i))] = "root's\n"
	}
	must.Do(t, os.Mkdir(w.path("victim"), 0o755))
	for name, text := range w.before {
		must.Do(t, os.WriteFile(name, []byte(text), 0o644))
	}
	w.alice.own(t, w.path("precious", "splits"), w.path("precious", "part"))
	must.Do(t, os.Chmod(w.path("precious", "secret"), 0o600))
	word := []byte(strings.ToLower(rand.Text()) + "\n")
	for _, name := range []string{w.path("cluster", localcluster.TokenFile), w.mastersToken()} {
		must.Do(t, os.WriteFile(name, word, 0o600))
	}
	w.alice.own(t, w.mastersToken())
	must.Do(t, os.WriteFile(w.path("conf", "mapred-site.xml"), fmt.Appendf(nil,
		`<configuration><property><name>hammr.limits.tasks</name><value>%d</value></property>
<property><name>hammr.limits.jobs.per.user</name><value>%d</value></property></configuration>`, tasksLimit, jobsPerUser), 0o644))
}

// beforeStart makes masters run as alice. The masters make directories for the output of jobs, so
// tasks that write to them need the same user.
func (w *world) beforeStart(name, dir string, cmd *exec.Cmd) error {
	if !strings.HasPrefix(name, "m") {
		return nil
	}
	cmd.SysProcAttr.Credential = w.alice.credential()
	cmd.Env = append(cmd.Environ(), "HOME="+dir)
	for _, d := range []string{dir, w.path("cluster", "logs")} {
		if err := os.Chown(d, w.alice.uid, w.alice.gid); err != nil {
			return err
		}
	}
	return nil
}

// end ends the cluster. No process of it may be left, and none of mallory's.
func (w *world) end(t *testing.T) {
	if err := w.cluster.Close(); err != nil {
		t.Error(err)
	}
	if left := w.cluster.Processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	if t.Failed() {
		t.Log(w.cluster.LogEnds(3000))
	}
}

// processes returns the daemons by name.
func (w *world) processes(t *testing.T) map[string]localcluster.Process {
	t.Helper()
	out := make(map[string]localcluster.Process)
	masters, tasknodes := w.cluster.Names()
	for _, name := range append(masters, tasknodes...) {
		p, err := w.cluster.Process(name)
		must.Do(t, err)
		out[name] = p
	}
	return out
}

// page returns the address of a daemon's page on this machine. A page may listen on all addresses.
func page(p localcluster.Process) string {
	_, port, _ := net.SplitHostPort(p.HTTP) // the daemon has written it
	return net.JoinHostPort("127.0.0.1", port)
}

// checkDaemons checks that every daemon is the process that was started, and healthy.
func (w *world) checkDaemons(t *testing.T) {
	t.Helper()
	for name, p := range w.daemons {
		if now, err := w.cluster.Process(name); err != nil || now.PID != p.PID || !now.Alive() {
			t.Errorf("%s has ended: process %d, was %d: %v", name, now.PID, p.PID, err)
			continue
		}
		answer, err := (&http.Client{Timeout: 20 * time.Second}).Get("http://" + page(p) + "/health")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("health of %s: %s", name, answer.Status)
		}
	}
}

// checkFiles checks that precious files are as before.
func (w *world) checkFiles(t *testing.T) {
	t.Helper()
	for name, want := range w.before {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
