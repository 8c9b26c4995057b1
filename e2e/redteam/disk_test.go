package redteam

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestDirectoriesOfOthers makes the attacks of a local user who has made a directory, or files in
// it, before root names it to a command. Root's commands must start no program of mallory's and end
// no process of root's, and must refuse the directory by its name.
func TestDirectoriesOfOthers(t *testing.T) {
	if reason := reasonToSkip(); reason != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	dir, err := os.MkdirTemp("", "redteam-")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	must.Do(t, os.Chmod(dir, 0o777|os.ModeSticky))
	w := &world{dir: dir, alice: newAccount(t, "a"), mallory: newAccount(t, "m")}
	var done table
	for _, a := range append(disks(), guides()...) {
		t.Run(a.threat+" "+a.does, func(t *testing.T) { done.add(a, a.check(t, w)) })
	}
	done.print()
}

// disks are attacks by directories and files. The name of mallory's account is in each refusal.
func disks() []attack {
	const mallorys = "belongs to user " + accountPrefix
	return []attack{
		{"N3", "a layout with a program, for hammr up", []string{mallorys}, upInForeignDirectory},
		{"N3", "a file of a layout in root's own directory", []string{mallorys}, upWithForeignLayout},
		{"N3", "a directory that all can write, for hammr up", []string{"mode 0777, other users can write to it; run chmod go-w "}, upInOpenDirectory},
		{"N3", "a link to a directory, for hammr up", []string{mallorys}, upThroughForeignLink},
		{"N3", "a process of root in cluster.json, for hammr down", []string{mallorys}, downOfForeignDirectory},
		{"N3", "a process of root in hdfs.json, for hammr dev hdfs down", []string{mallorys}, hdfsDownOfForeignDirectory},
		{"N3", "a configuration, for hammr dev hdfs up", []string{mallorys}, inForeignDirectory("dev", "hdfs", "up", "--dir")},
		{"N3", "the directory of a master", []string{mallorys}, daemonInForeignDirectory("jobmaster", "--id", "m1")},
		{"N3", "the directory of a tasknode", []string{mallorys}, daemonInForeignDirectory("tasknode", "--name", "n1", "--masters", "127.0.0.1:1")},
		{"N3", "a local directory of a tasknode", []string{mallorys}, localDirOfForeignUser},
		{"N3", "a state, for hammr slurm run", []string{mallorys}, slurmInForeignDirectory},
		{"N4", "the directory of hammr cluster start, during the start", []string{"belongs to another user"}, clusterStartRace},
		{"N10", "the directory of an earlier allocation's link", []string{"has another directory", "is not a link of this user: remove it"}, takePlace},
		{"N3", "a process of root in the lock of a tasknode", []string{"which cannot be its tasknode"}, restartInForeignDirectory},
	}
}

// foreignDir makes a directory of mallory's with files of the given content.
func (w *world) foreignDir(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(w.dir, "foreign-")
	must.Do(t, err)
	must.Do(t, os.Chmod(dir, 0o755))
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
		w.mallory.own(t, filepath.Join(dir, name))
	}
	w.mallory.own(t, dir)
	return dir
}

// token is the content of a valid file of a token.
const token = "thissecretisknowntomallory\n"

// evilFiles returns mallory's layout, which starts a program that makes the file proof.
func (w *world) evilFiles(dir, proof string) map[string]string {
	return map[string]string{
		"token": token,
		"evil":  "#!/bin/sh\nid >" + proof + "\n",
		"layout.json": fmt.Sprintf(`{"id":"1","masters":[{"id":"m1","address":"127.0.0.1:16999","http":"127.0.0.1:16998"}],
"tasknodes":[{"name":"n1","host":"127.0.0.1","mapSlots":1,"reduceSlots":1}],"tasknodeFlags":["--health-script=%s/evil"]}`, dir),
	}
}

// command runs a command of root's in a home of its own, and returns what it has printed. It must
// fail.
func (w *world) command(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a daemon that starts does not end
	defer cancel()
	cmd := exec.CommandContext(ctx, hammr, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=localhost")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("hammr %s succeeded", strings.Join(args, " "))
	}
	return string(out)
}

// up runs hammr up in a directory, and checks that mallory's program did not run.
func (w *world) up(t *testing.T, dir, proof string) string {
	t.Helper()
	t.Cleanup(func() { _ = exec.Command(hammr, "down", "--dir", dir).Run() }) // it runs only if the attack succeeds
	out := w.command(t, "up", "--detach", "--dir", dir)
	if id, err := os.ReadFile(proof); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program of mallory's ran: %s %v", id, err)
	}
	return out
}

func upInForeignDirectory(t *testing.T, w *world) string {
	proof := filepath.Join(t.TempDir(), "proof")
	dir := w.foreignDir(t, nil)
	for name, text := range w.evilFiles(dir, proof) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	return w.up(t, dir, proof)
}

// ownDir makes a directory of root's with mallory's layout; the files are of root but for those
// that are named.
func (w *world) ownDir(t *testing.T, proof string, mallorys ...string) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(w.dir, "own-")
	must.Do(t, err)
	for name, text := range w.evilFiles(dir, proof) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	for _, name := range mallorys {
		w.mallory.own(t, filepath.Join(dir, name))
	}
	return dir
}

func upWithForeignLayout(t *testing.T, w *world) string {
	proof := filepath.Join(t.TempDir(), "proof")
	first := w.up(t, w.ownDir(t, proof, "layout.json"), proof)
	dir := w.ownDir(t, proof, "token")
	must.Do(t, os.Remove(filepath.Join(dir, "layout.json")))
	must.Do(t, os.Remove(filepath.Join(dir, "evil")))
	return first + w.up(t, dir, proof)
}

func upInOpenDirectory(t *testing.T, w *world) string {
	proof := filepath.Join(t.TempDir(), "proof")
	dir := w.ownDir(t, proof)
	must.Do(t, os.Chmod(dir, 0o777))
	return w.up(t, dir, proof)
}

func upThroughForeignLink(t *testing.T, w *world) string {
	proof := filepath.Join(t.TempDir(), "proof")
	link := w.path("link")
	must.Do(t, os.Symlink(w.ownDir(t, proof), link))
	w.mallory.own(t, link)
	return w.up(t, link, proof)
}

// victim starts a process of root's that mallory wants to end. It returns its id, its start time
// and a check that it runs.
func victim(t *testing.T, args ...string) (pid int, started string, check func()) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", "read line"}, args...)...)
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	must.Do(t, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return cmd.Process.Pid, fields[19], func() {
		must.Do(t, in.Close())
		if err := <-ended; err == nil || strings.Contains(err.Error(), "signal") {
			t.Errorf("a process of root was ended: %v", err)
		}
	}
}

func downOfForeignDirectory(t *testing.T, w *world) string {
	dir := w.foreignDir(t, w.evilFiles("/", "/dev/null"))
	pid, started, check := victim(t, dir)
	defer check()
	process := fmt.Sprintf(`{"pid":%d,"started":"%s","dir":"%s","address":"x"}`, pid, started, dir)
	state := filepath.Join(dir, localcluster.StateFile)
	must.Do(t, os.WriteFile(state, []byte(`{"id":"1","tasknodes":[`+strings.Replace(process, "{", `{"name":"n1",`, 1)+`]}`), 0o644))
	w.mallory.own(t, state)
	return w.command(t, "down", "--dir", dir)
}

func hdfsDownOfForeignDirectory(t *testing.T, w *world) string {
	pid, started, check := victim(t)
	defer check()
	dir := w.foreignDir(t, map[string]string{"hdfs.json": fmt.Sprintf(`{"supervisor":{"pid":%d,"started":"%s"}}`, pid, started)})
	return w.command(t, "dev", "hdfs", "down", "--dir", dir)
}

// inForeignDirectory returns an attack on a command whose last argument is a directory.
func inForeignDirectory(args ...string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		dir := w.foreignDir(t, nil)
		defer exec.Command(hammr, "dev", "hdfs", "down", "--dir", dir).Run() // it runs only if the attack succeeds
		return w.command(t, append(args[:len(args):len(args)], dir)...)
	}
}

// daemonInForeignDirectory returns an attack on a daemon by its directory.
func daemonInForeignDirectory(args ...string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		return w.daemon(t, append(args[:len(args):len(args)], "--dir", w.foreignDir(t, nil))...)
	}
}

// daemon runs a daemon, which must not start.
func (w *world) daemon(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte(token), 0o600))
	return w.command(t, append(args, "--token-file", file, "--address", "127.0.0.1:0", "--http", "127.0.0.1:0")...)
}

func localDirOfForeignUser(t *testing.T, w *world) string {
	dir := w.foreignDir(t, nil)
	tasks := filepath.Join(dir, "tasks")
	must.Do(t, os.Mkdir(tasks, 0o755))
	w.mallory.own(t, tasks)
	return w.daemon(t, "tasknode", "--name", "n1", "--masters", "127.0.0.1:1", "--dir", t.TempDir(), "--local-dir", dir)
}

func slurmInForeignDirectory(t *testing.T, w *world) string {
	state := w.foreignDir(t, map[string]string{"lock": "", "token": token})
	programs := t.TempDir()
	for name, prints := range map[string]string{"scontrol": "localhost", "squeue": "1:00:00"} {
		must.Do(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\necho "+prints+"\n"), 0o755))
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	return w.command(t, "slurm", "run", "--state", state, "--", "/bin/false")
}

// takePlace makes the names that an allocation of root's has used, as mallory, before the next one
// begins: the directory, with a file in it, by each name that an earlier version gave it or that the
// link had; then the link itself.
func takePlace(t *testing.T, w *world) string {
	base := filepath.Join(w.dir, "local")
	must.Do(t, os.Mkdir(base, 0o777))
	must.Do(t, os.Chmod(base, 0o777|os.ModeSticky))
	link := filepath.Join(base, "hammr-0-1-n1")
	made := w.allocate(t, link, base)
	if _, err := os.Lstat(link); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link after the allocation: %v", err)
	}
	baits := slices.Compact([]string{made, link + ".files"})
	for _, bait := range baits {
		must.Do(t, os.Mkdir(bait, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(bait, "kept"), nil, 0o600))
		w.mallory.own(t, bait, filepath.Join(bait, "kept"))
	}
	must.Do(t, os.Symlink(made, link)) // root's, as a machine that lost its power has left it
	again := w.allocate(t, link, base)
	outcome := "the allocation has another directory\n"
	for _, bait := range baits {
		if _, err := os.Stat(filepath.Join(bait, "kept")); err != nil || again == bait {
			outcome = fmt.Sprintf("the allocation has %s, and mallory's file: %v\n", again, err)
		}
	}
	must.Do(t, os.Symlink(made, link))
	w.mallory.own(t, link)
	return outcome + w.allocate(t, link, base)
}

// allocate runs the daemons' side of an allocation of root's, and returns the directory that it has
// made for a link, or its error.
func (w *world) allocate(t *testing.T, link, base string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, hammr, "allocation-node")
	in, err := node.StdinPipe()
	must.Do(t, err)
	out, err := node.StdoutPipe()
	must.Do(t, err)
	must.Do(t, node.Start())
	fmt.Fprintf(in, `{"Open":{"Place":{"Link":%q,"Base":%q}}}`+"\n", link, base)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	must.Do(t, err)
	var answer struct{ Error string }
	must.Do(t, json.Unmarshal(line, &answer))
	result := answer.Error
	if result == "" {
		info, err := os.Stat(link)
		must.Do(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 || info.Mode().Perm() != 0o700 {
			t.Errorf("the directory of %s has the owner %d and the mode %v", link, owner, info.Mode())
		}
		result, err = os.Readlink(link)
		must.Do(t, err)
	}
	must.Do(t, in.Close())
	if err := node.Wait(); err != nil {
		t.Errorf("allocation-node: %v", err)
	}
	return result
}

// restartInForeignDirectory names a process in the lock of a tasknode, which another process of
// mallory's has locked.
func restartInForeignDirectory(t *testing.T, w *world) string {
	pid, _, check := victim(t)
	defer check()
	dir := w.foreignDir(t, map[string]string{"lock": strconv.Itoa(pid) + "\n"})
	lock, err := os.Open(filepath.Join(dir, "lock"))
	must.Do(t, err)
	defer lock.Close()
	must.Do(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	return w.command(t, "node", "restart", "--dir", dir)
}

// clusterStartRace makes the directory of a machine after hammr cluster start has found none, and
// before it copies the program there.
func clusterStartRace(t *testing.T, w *world) string {
	target, race, hosts := w.path("race"), filepath.Join(t.TempDir(), "race"), filepath.Join(t.TempDir(), "hosts")
	must.Do(t, os.WriteFile(race, fmt.Appendf(nil, `#!/bin/sh
case $1 in "sh -c"*) [ -e %[1]s ] || { mkdir -p %[1]s/bin && chown -R %[2]s %[1]s; } ;; esac
exec sh -c "$1"
`, target, w.mallory.name), 0o755))
	must.Do(t, os.WriteFile(hosts, fmt.Appendf(nil, "127.0.0.1\n* dir=%s staging=file://%s slots=1\n", target, w.path("staging")), 0o644))
	defer exec.Command(hammr, "cluster", "stop", "--hostfile", hosts, "--shell", race).Run() // it runs only if the attack succeeds
	out := w.command(t, "cluster", "start", "--hostfile", hosts, "--shell", race)
	if files, err := filepath.Glob(filepath.Join(target, "bin", "*")); err != nil || len(files) > 0 {
		t.Errorf("mallory's directory has %q, %v", files, err)
	}
	return out
}

// readData returns an attack that reads all histories and logs of jobs as mallory, after alice's job
// is over. With the token, hammr job logs reads them through a master.
func readData(job *bystanderJob) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string { return w.readData(t, job.id) }
}

func (w *world) readData(t *testing.T, job string) string {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must.Do(t, testcluster.Poll(ctx, func(context.Context) (bool, error) {
		histories, err := filepath.Glob(w.path("shared", "history", "*", "job_*"))
		return len(histories) > 0, err
	}))
	var refusals strings.Builder
	read := 0
	for _, dir := range []string{w.path("shared", "history"), w.path("shared", "joblogs")} {
		must.Do(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) && name == dir { // no task has printed anything
				return nil
			}
			if err != nil || e.IsDir() {
				return err
			}
			cmd := exec.Command("cat", name)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.mallory.credential()}
			out, err := cmd.CombinedOutput()
			if read++; err == nil {
				t.Errorf("mallory has read %d bytes of %s", len(out), name)
			}
			refusals.Write(out)
			return nil
		}))
	}
	return fmt.Sprintf("%s(%d files)", &refusals, read)
}
