// Command recovery measures how long tasks that were lost with a tasknode wait for
// a slot, on clusters of processes on this machine: three masters and four
// tasknodes, every slot taken, half of them by jobs of lesser claim. Tasks sleep at
// each record, because one machine is not a cluster; input is a local file, which
// lies everywhere, so it says nothing about locality.
//
//	go run ./bench/cmd/recovery -hammr bin/hammr -kills 20
//
// It prints a row for each policy and kind of task: the time from the verdict, which
// is when the lost attempt ended, to the start of the next attempt at its task.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/report"
)

func main() {
	program := flag.String("hammr", "bin/hammr", "`file` with the program")
	kills := flag.Int("kills", 20, "`number` of tasknodes killed under each policy")
	policies := flag.String("policies", "chronos+fifo,chronos+fair", "`policies`, joined by commas")
	flag.Parse()
	fmt.Println("| policy | task | lost | wait p50 ms | p95 ms | most ms |\n|---|---|---|---|---|---|")
	for policy := range strings.SplitSeq(*policies, ",") {
		if err := measure(*program, policy, *kills); err != nil {
			fmt.Fprintf(os.Stderr, "recovery: %s: %v\n", policy, err)
			os.Exit(1)
		}
	}
}

// bench is one cluster.
type bench struct {
	program, dir string
	state        *localcluster.State
	waits        map[report.Kind][]int64 // ms
}

func measure(program, policy string, kills int) error {
	dir, err := os.MkdirTemp("", "recovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{program: program, dir: dir, waits: make(map[report.Kind][]int64)}
	if err := b.prepare(); err != nil {
		return err
	}
	defer b.hammr("down", "--dir", b.cluster())
	for n := range kills {
		if err := b.up(policy); err != nil {
			return err
		}
		if err := b.round(n); err != nil {
			return fmt.Errorf("kill %d: %w", n+1, err)
		}
	}
	for _, kind := range []report.Kind{report.Map, report.Reduce} {
		w := b.waits[kind]
		if slices.Sort(w); len(w) > 0 {
			fmt.Printf("| %s | %s | %d | %d | %d | %d |\n", policy, strings.ToLower(string(kind)), len(w), w[(len(w)-1)/2], w[(len(w)*95+99)/100-1], w[len(w)-1])
		}
	}
	return nil
}

func (b *bench) cluster() string { return filepath.Join(b.dir, "cluster") }

func (b *bench) input() string { return filepath.Join(b.dir, "in") }

// lineBytes is how long each line of the input is, a word of its own.
const lineBytes = 10

func (b *bench) prepare() error {
	var text strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&text, "w%08d\n", n)
	}
	return os.WriteFile(b.input(), []byte(text.String()), 0o644)
}

// up starts the cluster, or what is missing of it.
func (b *bench) up(policy string) (err error) {
	args := []string{"up", "--dir", b.cluster(), "--detach"}
	if b.state == nil {
		args = append(args, "--masters", "3", "--tasknodes", "4", "--expiry", "1s", "--heartbeat", "200ms")
	}
	os.Setenv("HAMMR_POLICY", policy)
	if _, err := b.hammr(args...); err != nil {
		return err
	}
	if b.state, err = localcluster.ReadState(b.cluster()); err != nil {
		return err
	}
	os.Setenv("HAMMR_MASTER", strings.Join(b.state.Addresses(), ","))
	os.Setenv("HAMMR_TOKEN_FILE", filepath.Join(b.cluster(), localcluster.TokenFile))
	return nil
}

func (b *bench) hammr(args ...string) (string, error) {
	cmd := exec.Command(b.program, args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("hammr %s: %w\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// submit hands in a job of so many records a map.
func (b *bench) submit(name string, lines, reduces int) (string, error) {
	return b.hammr("run", "wordcount", "--detach", "-D", "hammr.debug.record.sleep=20",
		"-D", fmt.Sprint("mapreduce.job.reduces=", reduces), "-D", fmt.Sprint("mapreduce.input.fileinputformat.split.maxsize=", lines*lineBytes),
		b.input(), filepath.Join(b.dir, name))
}

func (b *bench) job(id string) (doc report.Report, err error) {
	text, err := b.hammr("job", "status", id, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &doc)
	}
	return doc, err
}

// await looks at a job until cond holds.
func (b *bench) await(what, id string, cond func(doc report.Report) bool) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		doc, err := b.job(id)
		if err != nil {
			return err
		}
		if cond(doc) {
			return nil
		}
	}
	return fmt.Errorf("never: %s of %s", what, id)
}

// running are the tasknodes on which tasks of a kind run.
func running(doc report.Report, kind report.Kind) (nodes []string) {
	for _, t := range doc.Tasks {
		for _, a := range t.Attempts {
			if t.Type == kind && a.FinishTime == 0 {
				nodes = append(nodes, a.Node)
			}
		}
	}
	return nodes
}

// round fills the cluster, with jobs whose reduces run and jobs whose maps do, kills
// the tasknode that has most of those with the better claim, and waits until what
// was lost of these has started again.
func (b *bench) round(n int) error {
	var ids []string
	defer func() {
		for _, id := range ids {
			_, _ = b.hammr("job", "kill", id) // it may be done
		}
	}()
	add := func(what string, lines, reduces int, enough func(doc report.Report) bool) error {
		id, err := b.submit(fmt.Sprint(what, n), lines, reduces)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		return b.await(what, id, enough)
	}
	some := func(kind report.Kind, count int) func(report.Report) bool {
		return func(doc report.Report) bool {
			return len(running(doc, kind)) >= count && (kind == report.Map || len(running(doc, report.Map)) == 0)
		}
	}
	for _, step := range []func() error{
		func() error { return add("reduces", 100, 2, some(report.Reduce, 2)) },
		func() error { return add("lesser-reduces", 100, 2, some(report.Reduce, 2)) },
		func() error { return add("maps", 1000, 0, some(report.Map, 4)) },
		func() error { return add("lesser-maps", 500, 0, some(report.Map, 4)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.kill(ids[0], ids[2])
}

// kill kills the tasknode with most tasks of some jobs.
func (b *bench) kill(ids ...string) error {
	count := make(map[string]int)
	for _, id := range ids {
		doc, err := b.job(id)
		if err != nil {
			return err
		}
		for _, node := range append(running(doc, report.Map), running(doc, report.Reduce)...) {
			count[node]++
		}
	}
	victim := slices.MaxFunc(b.state.Tasknodes, func(x, y localcluster.Tasknode) int { return count[x.Name] - count[y.Name] })
	at := time.Now().UnixMilli()
	process, err := os.FindProcess(victim.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := b.await("recovery", id, func(doc report.Report) bool { return b.recovered(doc, victim.Name, at) }); err != nil {
			return err
		}
	}
	return nil
}

// recovered reports whether all that a job lost with a machine has started again,
// and then counts how long that took.
func (b *bench) recovered(doc report.Report, machine string, killed int64) bool {
	waits := make(map[report.Kind][]int64)
	lost := 0
	for _, t := range doc.Tasks {
		for i, a := range t.Attempts {
			if a.Node != machine || a.FinishTime != 0 && (a.FinishTime < killed || a.State == report.Succeeded) {
				continue
			}
			if lost++; a.FinishTime != 0 && i+1 < len(t.Attempts) {
				waits[t.Type] = append(waits[t.Type], t.Attempts[i+1].StartTime-a.FinishTime)
			}
		}
	}
	if lost != len(waits[report.Map])+len(waits[report.Reduce]) {
		return false
	}
	for kind, w := range waits {
		b.waits[kind] = append(b.waits[kind], w...)
	}
	return true
}
