//go:build deploy

package deploytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// podman is an installation of podman and buildah with its own storage, networks and secrets. So
// images and containers of this machine are not touched, and nothing is left behind.
type podman struct {
	t      *testing.T
	dir    string   // contains everything
	shared string   // directory that all containers of a cluster mount at /shared
	names  []string // containers that were started, in order
}

const (
	image      = "localhost/hammr:test"
	network    = "hammr-test"
	userInside = 65532 // user of the image
	deadline   = 2 * time.Minute
)

// masterIDs are the masters of the cluster; their containers have the same names.
var masterIDs = []string{"m1", "m2", "m3"}

// in returns the same podman for a part of the test.
func (p *podman) in(t *testing.T) *podman {
	part := *p
	part.t = t
	return &part
}

// inNamespaces is the environment variable with the directory of a podman, for the process that
// runs the test in namespaces of its own.
const inNamespaces = "HAMMR_TEST_PODMAN"

// preparePodman makes a podman, and builds the image by the script of the project.
func preparePodman(t *testing.T) *podman {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("root is needed: the test gives directories to the user of the image")
	}
	for _, program := range []string{"podman", "buildah", "crun", "iptables"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: apt-get install podman buildah crun netavark aardvark-dns iptables", err)
		}
	}
	dir, err := os.MkdirTemp("", "pod-") // short: podman puts sockets there
	must.Do(t, err)
	p := &podman{t: t, dir: dir, shared: filepath.Join(dir, "shared")}
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	must.Do(t, os.Chmod(dir, 0o711)) // the user of the image passes through
	p.configure()
	if out, err := exec.CommandContext(t.Context(), "../image/build.sh", image).CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	return p
}

// again runs the test again in its own namespaces of processes, networks and mounts, so that nothing
// of podman outlives the test. The shell waits for orphans of podman, for whose end podman waits.
// crun refuses machines that have control groups of both versions, so it does not see version 2. /run
// is empty: sockets and states of the machine's own containers are not there.
func (p *podman) again() {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
		`if [ -d /sys/fs/cgroup/unified ]; then umount /sys/fs/cgroup/unified; fi; mount -t tmpfs tmpfs /run; "$@"; exit $?`, "sh", os.Args[0], "-test.run=^"+p.t.Name()+"$", "-test.v", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), inNamespaces+"="+p.dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(p.t, cmd.Run())
}

// openPodman opens a podman that preparePodman has made. It makes a network and the Secret.
func openPodman(t *testing.T, dir string) *podman {
	t.Helper()
	p := &podman{t: t, dir: dir, shared: filepath.Join(dir, "shared")}
	t.Cleanup(p.remove)
	must.Do(t, os.Mkdir(p.shared, 0o755))
	must.Do(t, os.Chown(p.shared, userInside, userInside))
	p.run("network", "create", network)
	token := filepath.Join(dir, "token")
	must.Do(t, os.WriteFile(token, []byte("secret-of-the-containers\n"), 0o600))
	p.run("secret", "create", "token", token)
	return p
}

// configure makes podman and buildah use the directory.
func (p *podman) configure() {
	driver := os.Getenv("HAMMR_TEST_STORAGE")
	if driver == "" {
		driver = "overlay"
	}
	// The defaults of podman are above what root may set on some machines.
	var files syscall.Rlimit
	must.Do(p.t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	for name, text := range map[string]string{
		"CONTAINERS_STORAGE_CONF": fmt.Sprintf("[storage]\ndriver = %q\ngraphroot = %q\nrunroot = %q\n", driver, p.dir+"/storage", p.dir+"/run"),
		"CONTAINERS_CONF": fmt.Sprintf("[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nlock_type = \"file\"\nruntime = \"crun\"\n"+
			"tmp_dir = %q\n[containers]\nlog_driver = \"k8s-file\"\ndefault_ulimits = [\"nofile=%d:%d\", \"nproc=4096:4096\"]\n[network]\nnetwork_backend = \"netavark\"\nnetwork_config_dir = %q\n",
			p.dir+"/tmp", files.Max, files.Max, p.dir+"/networks"),
	} {
		file := filepath.Join(p.dir, name)
		must.Do(p.t, os.WriteFile(file, []byte(text), 0o600))
		p.t.Setenv(name, file)
	}
}

// try runs podman and returns what it prints.
func (p *podman) try(args ...string) (stdout string, err error) {
	var out, problems bytes.Buffer
	cmd := exec.Command("podman", args...) // also after the end of the test's context
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("podman %s: %w\n%s", strings.Join(args, " "), err, problems.String())
	}
	return strings.TrimSpace(out.String()), err
}

// run runs podman, which must succeed.
func (p *podman) run(args ...string) (stdout string) {
	p.t.Helper()
	out, err := p.try(args...)
	must.Do(p.t, err)
	return out
}

// isolated are the options of all containers: nothing may be written but the volumes, and no
// process has or gets privileges.
func (p *podman) isolated() []string {
	return []string{
		"--network", network, "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
		"--secret", fmt.Sprintf("token,uid=%d,mode=0400", userInside), "--volume", p.shared + ":/shared",
		"--env", "HAMMR_TOKEN_FILE=/run/secrets/token", "--env", "HAMMR_MASTER=" + strings.Join(masterIDs, ","),
	}
}

// start starts a daemon in a container of its own, with a directory that outlives the container.
func (p *podman) start(name string, args ...string) {
	p.t.Helper()
	data := filepath.Join(p.dir, "data-"+name)
	must.Do(p.t, os.MkdirAll(data, 0o700))
	must.Do(p.t, os.Chown(data, userInside, userInside))
	p.run(slices.Concat([]string{"run", "--detach", "--name", name, "--hostname", name, "--volume", data + ":/var/lib/hammr"},
		p.isolated(), []string{image}, args, []string{"--dir", "/var/lib/hammr"})...)
	p.names = append(p.names, name)
}

// startMaster starts one of three masters, with further settings.
func (p *podman) startMaster(id string, settings ...string) {
	p.t.Helper()
	var first []string
	for _, id := range masterIDs {
		first = append(first, id+"="+id)
	}
	p.start(id, append([]string{"jobmaster", "--id", id, "--masters", strings.Join(first, ","), "--cluster-id", "1764192000000",
		"--staging", "file:///shared/staging", "--nice", "0", "--http", ":7080"}, settings...)...)
}

// startTasknode starts a tasknode, which is drained when its container is stopped.
func (p *podman) startTasknode(name string) {
	p.t.Helper()
	p.start(name, "tasknode", "--masters", strings.Join(masterIDs, ","), "--map-slots", "2", "--reduce-slots", "1",
		"--drain-on-stop", "60s", "--http", ":7081")
}

// hammr runs a command of a client in a container of its own, which must succeed.
func (p *podman) hammr(args ...string) (stdout string) {
	p.t.Helper()
	return p.run(slices.Concat([]string{"run", "--rm"}, p.isolated(), []string{image}, args)...)
}

// inside runs hammr in the container of a daemon.
func (p *podman) inside(name string, args ...string) (stdout string, err error) {
	return p.try(slices.Concat([]string{"exec", name, "hammr"}, args)...)
}

// document decodes the output of a command with --json, which runs in the container of a daemon.
func document[T any](p *podman, name string, args ...string) (doc T, err error) {
	out, err := p.inside(name, append(args, "--json")...)
	if err == nil {
		err = json.Unmarshal([]byte(out), &doc)
	}
	return doc, err
}

// inspect returns a field of the description of a container.
func (p *podman) inspect(name, format string) string {
	p.t.Helper()
	return p.run("inspect", "--format", "{{"+format+"}}", name)
}

// stop stops a container as a user does: SIGTERM, and SIGKILL after the time. The daemon must end by
// itself, with success.
func (p *podman) stop(name string) {
	p.t.Helper()
	began := time.Now()
	p.run("stop", "--time", "90", name)
	if code := p.inspect(name, ".State.ExitCode"); code != "0" {
		p.t.Errorf("%s has ended with %s after %v", name, code, time.Since(began))
	}
	p.t.Logf("%s has stopped in %v", name, time.Since(began).Round(100*time.Millisecond))
}

// log returns the log of a daemon.
func (p *podman) log(name string) string {
	out, err := exec.Command("podman", "logs", name).CombinedOutput()
	if err != nil {
		p.t.Errorf("podman logs %s: %v", name, err)
	}
	return string(out)
}

// remove ends all containers and removes everything.
func (p *podman) remove() {
	if p.t.Failed() {
		for _, name := range p.names {
			log := p.log(name)
			p.t.Logf("%s:\n%s", name, log[max(0, len(log)-4000):])
		}
	}
	for _, args := range [][]string{
		{"rm", "--all", "--force", "--time", "0"}, {"network", "rm", "--force", network},
	} {
		if _, err := p.try(args...); err != nil {
			p.t.Error(err)
		}
	}
	// podman leaves groups of its containers, and the group above them.
	for _, pattern := range []string{"/sys/fs/cgroup/*/libpod_parent/*", "/sys/fs/cgroup/*/libpod_parent"} {
		groups, err := filepath.Glob(pattern)
		if err != nil {
			p.t.Error(err)
		}
		for _, group := range groups {
			_ = os.Remove(group) // fails for groups of other containers of this machine, which have processes
		}
	}
}

// await waits until a state is reached, and fails the test after the deadline.
func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(deadline); !reached(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("after %v not yet: %s", deadline, what)
		}
	}
}
