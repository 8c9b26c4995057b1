//go:build deploy

package deploytest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/docs/report/reporttest"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestPodman runs a cluster in containers: three masters and two tasknodes in one network. Names
// resolve only while a container runs, so at first the tasknodes know no address of a master.
func TestPodman(t *testing.T) {
	dir := os.Getenv(inNamespaces)
	if dir == "" {
		preparePodman(t).again()
		return
	}
	p := openPodman(t, dir)
	t.Run("image", func(t *testing.T) { p.in(t).checkImage(t) })
	p.startTasknode("t1")
	p.startTasknode("t2")
	for _, id := range masterIDs {
		p.startMaster(id)
	}
	p.awaitTasknodes("m1", "t1", "t2")
	for _, run := range []struct {
		name string
		run  func(*podman, *testing.T)
	}{
		{"confinement", (*podman).checkConfinement},
		{"wordcount", (*podman).checkWordcount},
		{"terasort", (*podman).checkTerasort},
		{"stopped tasknode", (*podman).checkStoppedTasknode},
		{"stopped leader", (*podman).checkStoppedLeader},
		{"lost volume", (*podman).checkLostVolume},
	} {
		if !t.Run(run.name, func(t *testing.T) { run.run(p.in(t), t) }) {
			return
		}
	}
}

// awaitTasknodes waits until exactly these tasknodes accept tasks.
func (p *podman) awaitTasknodes(from string, names ...string) {
	p.t.Helper()
	var got []string
	await(p.t, fmt.Sprintf("tasknodes %q accept tasks", names), func() bool {
		nodes, err := document[[]apidoc.Tasknode](p, from, "node", "list", "--timeout", "5s")
		got = nil
		for _, n := range nodes {
			if n.State == "RUNNING" {
				got = append(got, n.Name)
			}
		}
		return err == nil && slices.Equal(got, names)
	})
}

// checkImage examines the image: one program, no privileges, and what it was built from.
func (p *podman) checkImage(t *testing.T) {
	for format, want := range map[string]string{
		".User": "65532:65532", "json .Config.Entrypoint": `["/hammr"]`, ".Config.StopSignal": "SIGTERM",
		`index .Labels "org.opencontainers.image.title"`: "hammr",
	} {
		if got := p.run("image", "inspect", "--format", "{{"+format+"}}", image); got != want && !(format == ".Config.StopSignal" && got == "15") {
			t.Errorf("%s of the image is %q, want %q", format, got, want)
		}
	}
	if revision := p.run("image", "inspect", "--format", `{{index .Labels "org.opencontainers.image.revision"}}`, image); len(revision) != 40 {
		t.Errorf("the image is of revision %q", revision)
	}
	size, err := strconv.ParseInt(p.run("image", "inspect", "--format", "{{.Size}}", image), 10, 64)
	must.Do(t, err)
	t.Logf("the image has %.1f MB", float64(size)/1e6)
	if out := p.run("run", "--rm", "--read-only", "--network", "none", image, "version"); !strings.HasPrefix(out, "hammr ") {
		t.Errorf("version: %q", out)
	}
}

// checkConfinement checks what the kernel says of the processes of all daemons.
func (p *podman) checkConfinement(t *testing.T) {
	for _, name := range p.names {
		status, err := os.ReadFile("/proc/" + p.inspect(name, ".State.Pid") + "/status")
		must.Do(t, err)
		fields := make(map[string]string)
		for line := range strings.Lines(string(status)) {
			field, value, _ := strings.Cut(line, ":")
			fields[field] = strings.Join(strings.Fields(value), " ")
		}
		for field, want := range map[string]string{
			"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532", "NoNewPrivs": "1",
			"CapEff": "0000000000000000", "CapBnd": "0000000000000000",
		} {
			if fields[field] != want {
				t.Errorf("%s: %s is %q, want %q", name, field, fields[field], want)
			}
		}
		if got := p.inspect(name, ".HostConfig.ReadonlyRootfs"); got != "true" {
			t.Errorf("%s: the root is read-only: %s", name, got)
		}
	}
}

// input writes a file that jobs read, and returns its name in the containers.
func (p *podman) input(t *testing.T, name string, text []byte) string {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(p.shared, name), text, 0o644))
	return "file:///shared/" + name
}

// parts returns the files of an output directory in order.
func (p *podman) parts(t *testing.T, dir string) (parts [][]byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.shared, dir, "part-*"))
	must.Do(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		t.Fatalf("no output in %s", dir)
	}
	return parts
}

// words returns a text of few distinct words, a number of lines.
func words(lines int) []byte {
	var text bytes.Buffer
	for i := range lines {
		for k := range 1 + i%7 {
			fmt.Fprintf(&text, "word%d ", (i*31+k*17)%257)
		}
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// checkCounts compares the output of a wordcount with counts that are made here.
func (p *podman) checkCounts(t *testing.T, text []byte, dir string) {
	t.Helper()
	want, got := make(map[string]int), make(map[string]int)
	for _, word := range bytes.Fields(text) {
		want[string(word)]++
	}
	for _, part := range p.parts(t, dir) {
		var keys []string
		for line := range strings.Lines(string(part)) {
			word, count, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			n, err := strconv.Atoi(count)
			must.Do(t, err)
			got[word], keys = n, append(keys, word)
		}
		if !slices.IsSorted(keys) {
			t.Errorf("a part of %s is not in order", dir)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s has %d words, want %d with the same counts", dir, len(got), len(want))
	}
}

func (p *podman) checkWordcount(t *testing.T) {
	text := words(20000)
	p.hammr("run", "wordcount", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=200k",
		"--quiet", p.input(t, "words", text), "file:///shared/counts")
	p.checkCounts(t, text, "counts")
}

// checkTerasort sorts rows, and compares the output with the same rows sorted here.
func (p *podman) checkTerasort(t *testing.T) {
	const rows, rowSize, keySize = 50000, 100, 10
	p.hammr("run", "teragen", "--quiet", strconv.Itoa(rows), "file:///shared/rows")
	p.hammr("run", "terasort", "--quiet", "-D", "mapreduce.job.reduces=2", "file:///shared/rows", "file:///shared/sorted")
	p.hammr("run", "teravalidate", "--quiet", "file:///shared/sorted", "file:///shared/valid")
	want := slices.Collect(slices.Chunk(bytes.Join(p.parts(t, "rows"), nil), rowSize))
	if len(want) != rows {
		t.Fatalf("teragen has written %d rows, want %d", len(want), rows)
	}
	slices.SortStableFunc(want, func(a, b []byte) int { return bytes.Compare(a[:keySize], b[:keySize]) })
	if !bytes.Equal(bytes.Join(p.parts(t, "sorted"), nil), bytes.Join(want, nil)) {
		t.Error("the output is not the input in order")
	}
}

// checkStoppedTasknode stops the container of a tasknode while a job runs there. The job continues
// on the other one, and no task loses work.
func (p *podman) checkStoppedTasknode(t *testing.T) {
	text := words(1500)
	id := p.hammr("run", "wordcount", "--detach", "-D", "mapreduce.job.reduces=2", "-D", "hammr.debug.record.sleep=20ms",
		"-D", "hammr.preempt.boundary.timeout=1m", "-D", "mapreduce.input.fileinputformat.split.maxsize=3k",
		p.input(t, "slow", text), "file:///shared/slow-counts")
	job := func() report.Report {
		t.Helper()
		doc, err := document[report.Report](p, "m1", "job", "status", id)
		must.Do(t, err)
		return doc
	}
	await(t, "maps are done and one runs on t1", func() bool {
		done, here := 0, 0
		for _, task := range job().Tasks {
			for _, a := range task.Attempts {
				switch {
				case task.Type == report.Map && a.State == report.Succeeded:
					done++
				case task.Type == report.Map && a.State == report.Running && a.Tasknode == "t1":
					here++
				}
			}
		}
		return done > 0 && here > 0
	})
	p.checkZombies(t, "t1")
	p.stop("t1")
	if log := p.log("t1"); !strings.Contains(log, "tasknode is drained") {
		t.Errorf("t1 has stopped without a drain:\n%s", log)
	}
	p.hammr("job", "wait", id, "--quiet")
	checkNothingLost(t, job())
	p.checkCounts(t, text, "slow-counts")
}

// checkNothingLost checks that each task of a job has finished once, and that no attempt has lost
// work.
func checkNothingLost(t *testing.T, doc report.Report) {
	t.Helper()
	preempted := reporttest.FinishedOnce(t, doc)
	if lost := doc.Counters[counter.GroupJob][counter.WorkLostMillis.Name]; lost > 0 || len(doc.Failures) > 0 {
		t.Errorf("%d ms of work are lost, failures %v", lost, doc.Failures)
	}
	t.Logf("%d tasks, %d attempts were preempted, 0 run again", len(doc.Tasks), preempted)
}

// checkZombies checks that the first process of a container, which is the daemon, has no children
// that have ended and were not waited for. Orphans of tasks become its children.
func (p *podman) checkZombies(t *testing.T, name string) {
	t.Helper()
	pid := p.inspect(name, ".State.Pid")
	await(t, name+" has no zombies", func() bool {
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		must.Do(t, err)
		return !slices.ContainsFunc(stats, func(file string) bool {
			text, _ := os.ReadFile(file) // the process may have ended
			_, rest, _ := strings.Cut(string(text), ") ")
			fields := strings.Fields(rest)
			return len(fields) > 1 && fields[0] == "Z" && fields[1] == pid
		})
	})
}

// checkStoppedLeader stops the container of the leader, and starts the first tasknode again: another
// master leads, and jobs run.
func (p *podman) checkStoppedLeader(t *testing.T) {
	masters, err := document[apidoc.Masters](p, "t2", "master", "status")
	must.Do(t, err)
	p.stop(masters.Leader)
	p.run("start", "t1")
	p.awaitTasknodes("t2", "t1", "t2")
	text := words(1000)
	p.hammr("run", "wordcount", "--quiet", p.input(t, "later", text), "file:///shared/later-counts")
	p.checkCounts(t, text, "later-counts")
	after, err := document[apidoc.Masters](p, "t2", "master", "status")
	must.Do(t, err)
	if after.Leader == "" || after.Leader == masters.Leader {
		t.Errorf("%q leads, after %q", after.Leader, masters.Leader)
	}
	p.run("start", masters.Leader)
	p.awaitMasters("m1", "m2", "m3")
}

// awaitMasters waits until exactly these masters lead or follow, and have votes.
func (p *podman) awaitMasters(ids ...string) {
	p.t.Helper()
	await(p.t, fmt.Sprintf("masters %q serve", ids), func() bool {
		doc, err := document[apidoc.Masters](p, "t2", "master", "status")
		var serving []string
		for _, m := range doc.Masters {
			if !m.NonVoter && (m.State == "leader" || m.State == "follower") {
				serving = append(serving, m.ID)
			}
		}
		return err == nil && slices.Equal(serving, ids)
	})
}

// checkLostVolume starts all masters with --join, one after the other, as the chart does with
// jobmaster.join. Then one of them loses its directory, and is added again under the same name.
func (p *podman) checkLostVolume(t *testing.T) {
	for _, id := range masterIDs {
		p.stop(id)
		p.run("rm", id)
		p.startMaster(id, "--join")
		p.awaitMasters(masterIDs...)
	}
	p.stop("m3")
	p.run("rm", "m3")
	must.Do(t, os.RemoveAll(filepath.Join(p.dir, "data-m3")))
	p.startMaster("m3", "--join")
	p.hammr("master", "remove", "m3")
	p.hammr("master", "add", "m3", "m3:7070")
	p.awaitMasters(masterIDs...)
	text := words(1000)
	p.hammr("run", "wordcount", "--quiet", p.input(t, "last", text), "file:///shared/last-counts")
	p.checkCounts(t, text, "last-counts")
}
