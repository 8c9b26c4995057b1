//go:build accept

package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

const (
	truthJobs     = 50
	truthAtOnce   = 6 // jobs that run at the same time
	truthExpiry   = 5 * time.Second
	truthRemote   = 5 // of so many jobs, one is also compared with `hammr ui --masters`
	truthPatience = 4 * time.Minute
)

// truthKinds are the commands of the jobs. IN/ is the directory of the inputs, and OUT one of the job.
// One of them fails. The last one has a straggler, of which a second attempt is made if slots are free.
var truthKinds = [][]string{
	{"wordcount", twoReduces, "IN/words", "OUT"},
	{"wordcount", twoReduces, "-Dhammr.preempt.checkpoint.copies=output", "IN/words", "OUT"},
	{"wordcount", "-Dmapreduce.job.reduces=0", "IN/words", "OUT"},
	{"sort", "-r", "2", "IN/words", "OUT"},
	{"terasort", threeReduces, "-Dhammr.debug.record.sleep=15ms", "IN/rows", "OUT"},
	{"secondarysort", threeReduces, "-Dhammr.debug.record.sleep=5ms", "IN/pairs", "OUT"},
	{"wordcountpipe", twoReduces, "-Dhammr.debug.record.sleep=2ms", "IN/words", "OUT"},
	{"streamcount", twoReduces, "-Dhammr.debug.record.sleep=2ms", "IN/words", "OUT"},
	{"sleep", "-m", "N", "-r", "2", "-mt", "1500", "-rt", "1000"},
	{"sleep", "-m", "N", "-r", "0", "-mt", "3000"},
	{"wordcount", "IN/damaged.gz", "OUT"},
	{"shout", "IN/words", "OUT"},
	{"wordcount", "-Dmapreduce.map.speculative=true", "-Dhammr.input.combine=false", "-Dmapreduce.input.fileinputformat.split.maxsize=1m", twoReduces, "IN/straggler", "OUT"},
}

// truthPools has a pool that takes slots of others to get its share.
const truthPools = `<allocations>
<pool name="nightly"><minMaps>4</minMaps><minReduces>2</minReduces><minSharePreemptionTimeout>1</minSharePreemptionTimeout></pool>
<pool name="adhoc"><weight>2</weight></pool>
</allocations>`

// truthDrill is a cluster whose jobs random acts disturb.
type truthDrill struct {
	*rigged
	random *rand.Rand
	inputs string
	acts   map[string]func(context.Context) error
	deck   []string       // acts to come
	counts map[string]int // acts that were carried out
	jobs   []string
}

// TestAcceptTruth runs jobs of random kinds on three masters and four tasknodes while random acts disturb
// them. Afterwards every figure of the pages of each job equals those of the commands, of the API and
// of the file of its history. HAMMR_SOAK_SEED is the seed, the time by default.
func TestAcceptTruth(t *testing.T) {
	seed, began := soakSeed(t), time.Now()
	figure("seed %d", seed)
	d := &truthDrill{rigged: newRiggedWith(t, truthExpiry, 4, "--pools", "nightly,adhoc"), random: rand.New(rand.NewPCG(seed, 5)), inputs: truthInputs(t), counts: make(map[string]int)}
	d.done("scheduler", "set", "fair", "--conf", "mapred.fairscheduler.preemption=true", "--conf", "mapred.fairscheduler.allocation.file="+newFile(t, "pools.xml", []byte(truthPools)))
	d.setActs()
	d.run()
	figure("%d jobs in %v, acts %v", len(d.jobs), time.Since(began).Round(time.Second), d.counts)
	d.compare(time.Now())
}

// truthInputs returns a directory with the inputs of truthKinds.
func truthInputs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	line := []byte("to be or not to be\n")
	must.Do(t, os.Mkdir(filepath.Join(dir, "straggler"), 0o755))
	for i := range 6 {
		lines := 60
		if i == 0 {
			lines = 2600
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "straggler", fmt.Sprintf("file-%d", i)), slices.Repeat(line, lines), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "words"), readFile(t, fewWords(t, 900, 120)), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "pairs"), readFile(t, randomLines(t, "pairs", 2000, func(r *rand.Rand) string { return fmt.Sprintf("%d %d", r.IntN(100), r.IntN(1000)) })), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "damaged.gz"), []byte("this is not compressed by gzip\n"), 0o600))
	done(t, "run", "--quiet", "teragen", "600", filepath.Join(dir, "rows"))
	return dir
}

// run submits all jobs and disturbs them until they are over.
func (d *truthDrill) run() {
	d.t.Helper()
	kinds := slices.Repeat(truthKinds, truthJobs/len(truthKinds)+1)[:truthJobs-1]
	d.random.Shuffle(len(kinds), func(i, k int) { kinds[i], kinds[k] = kinds[k], kinds[i] })
	kinds = append(kinds, truthKinds[len(truthKinds)-1]) // when the others are over, slots are free for a second attempt
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(truthPatience); ; <-tick.C {
		left := d.unfinished()
		if left == 0 && len(kinds) == 0 {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("after %v, %d jobs run and %d are to come:\n%s", truthPatience, left, len(kinds), d.done("job", "list").stdout)
		}
		if left < truthAtOnce && len(kinds) > 0 {
			d.jobs = append(d.jobs, d.submitKind(kinds[0]))
			kinds = kinds[1:]
		}
		if len(kinds) > 0 {
			d.act()
		}
	}
}

// unfinished returns how many jobs are not over.
func (d *truthDrill) unfinished() (n int) {
	d.t.Helper()
	waitUntil(d.t, "the masters list the jobs", func() bool {
		ctx, cancel := context.WithTimeout(d.t.Context(), 2*time.Second)
		defer cancel()
		jobs, err := docs.AllJobs.From(ctx, d.client, docs.AllQuery{})
		n = len(jobs)
		return err == nil
	})
	return n
}

// submitKind submits a job of a kind to a random pool with a random priority.
func (d *truthDrill) submitKind(kind []string) (id string) {
	d.t.Helper()
	oneOf := func(names ...string) string { return names[d.random.IntN(len(names))] }
	names := strings.NewReplacer("IN/", d.inputs+"/", "OUT", filepath.Join(d.t.TempDir(), "out"), "N", fmt.Sprint(2+d.random.IntN(8)))
	args := []string{"-Dmapreduce.job.name=" + kind[0] + " " + oneOf("of tonight", "again", "<b>", "größer")}
	args = slices.Concat(args, []string{"-Dmapreduce.job.queuename=" + oneOf("default", "nightly", "adhoc"), "-Dmapreduce.job.priority=" + oneOf("VERY_HIGH", "HIGH", "NORMAL", "LOW")}, preemptible, []string{"-Dmapreduce.input.fileinputformat.split.maxsize=3k"})
	for _, arg := range kind[1:] {
		if !strings.HasPrefix(arg, "-D") {
			arg = names.Replace(arg)
		}
		args = append(args, arg)
	}
	if kind[0] == "shout" {
		return d.submitProgram("shout", args...)
	}
	return d.submit(append([]string{kind[0]}, args...)...)
}

// setActs sets what disturbs jobs.
func (d *truthDrill) setActs() {
	masters, tasknodes := d.rig.Names()
	oneOf := func(names ...string) string { return names[d.random.IntN(len(names))] }
	ofJob := func(act func(ctx context.Context, job string) error) func(context.Context) error {
		return func(ctx context.Context) error {
			_, job, err := d.anyRunning(ctx, d.random)
			if err != nil {
				return err
			}
			return act(ctx, job)
		}
	}
	end := func(do string) func(context.Context) error {
		return func(ctx context.Context) error {
			attempt, _, err := d.anyRunning(ctx, d.random)
			if err != nil {
				return err
			}
			return client.Change(ctx, d.client, do, attempt, "")
		}
	}
	suspended := func(mode string) func(context.Context) error {
		return ofJob(func(ctx context.Context, job string) error {
			if err := client.Change(ctx, d.client, "job.suspend", job, mode); err != nil {
				return err
			}
			wait(ctx, time.Second)
			return client.Change(context.WithoutCancel(ctx), d.client, "job.resume", job, "")
		})
	}
	lose := func(away time.Duration) func(context.Context) error {
		return func(ctx context.Context) error { return d.kill(ctx, away, oneOf(tasknodes...)) }
	}
	d.acts = map[string]func(context.Context) error{
		"job killed":       ofJob(func(ctx context.Context, job string) error { return d.client.Kill(ctx, job, "killed by the drill") }),
		"job suspended":    suspended("suspend"),
		"job checkpointed": suspended("checkpoint"),
		"pool": ofJob(func(ctx context.Context, job string) error {
			return client.Change(ctx, d.client, "job.move", job, oneOf("default", "nightly", "adhoc"))
		}),
		"priority": ofJob(func(ctx context.Context, job string) error {
			return client.Change(ctx, d.client, "job.priority", job, oneOf(apidoc.Priorities...))
		}),
		"killed":      end("attempt.kill"),
		"failed":      end("attempt.fail"),
		"node lost":   lose(truthExpiry + 2*time.Second),
		"node killed": lose(0),
		"node drained": func(ctx context.Context) error {
			node := oneOf(tasknodes...)
			if err := client.Change(ctx, d.client, "node.drain", node, "1m"); err != nil {
				return err
			}
			wait(ctx, 2*time.Second)
			return client.Change(context.WithoutCancel(ctx), d.client, "node.admit", node, "")
		},
		"leader": func(ctx context.Context) error {
			return client.Change(ctx, d.client, "master.transfer", oneOf(masters...), "")
		},
	}
	for _, mode := range []string{"split", "checkpoint", "suspend", "kill"} {
		d.acts[mode] = func(ctx context.Context) error { return d.preemptAny(ctx, d.random, mode) }
	}
}

// act carries out the next act. One that is impossible, since an attempt has just ended, is left out.
// Those that preempt come more often.
func (d *truthDrill) act() {
	if len(d.deck) == 0 {
		names := slices.Sorted(maps.Keys(d.acts))
		d.deck = slices.Concat(names, []string{"split", "checkpoint", "suspend", "kill", "split", "checkpoint", "suspend"})
		d.random.Shuffle(len(d.deck), func(i, k int) { d.deck[i], d.deck[k] = d.deck[k], d.deck[i] })
	}
	name := d.deck[0]
	d.deck = d.deck[1:]
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	if err := d.acts[name](ctx); err == nil {
		d.counts[name]++
	} else {
		d.counts["left out"]++
		d.t.Logf("left out: %s: %v", name, err)
	}
}

// compare compares each job on the leader, on a follower and from the files, and some on `hammr ui`.
func (d *truthDrill) compare(began time.Time) {
	d.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(d.acts)) {
		if d.counts[name] == 0 {
			d.t.Errorf("no act %q was possible: %v", name, d.counts)
		}
	}
	token := filepath.Join(d.dir, localcluster.TokenFile)
	leader := d.awaitLeader("")
	servers := []*browser{newBrowser(d.t, leader.HTTP, token), newBrowser(d.t, d.followerOf(leader).HTTP, token)}
	remote := newBrowser(d.t, d.serveUI(token), token)
	var truths []*truth
	for _, id := range d.jobs {
		truths = append(truths, d.truthOf(id)) // which waits for the history
	}
	files := d.filesBrowser(d.cluster.Histories())
	kinds, states, attempts, figures, documents := make(map[string]int), make(map[string]int), 0, 0, 0
	for i, w := range truths {
		browsers := append(slices.Clone(servers), files)
		if i%truthRemote == 0 {
			browsers = append(browsers, remote)
		}
		for _, b := range browsers {
			before := w.figures
			w.check(b, b != files)
			if w.figures-before < 100 {
				d.t.Errorf("%s: only %d figures of %s were compared", b.root, w.figures-before, w.id)
			}
		}
		for _, e := range w.file.EventLog().Events {
			kinds[e.Kind]++
		}
		for _, task := range w.command.Tasks {
			attempts += len(task.Attempts)
		}
		figures, documents = figures+w.figures, documents+w.documents
		states[string(w.command.State)]++
	}
	figure("%d attempts, jobs %v, events %v", attempts, states, kinds)
	figure("%d figures of pages and %d documents compared in %v", figures, documents, time.Since(began).Round(time.Second))
	for _, kind := range []string{"split", "checkpoint", "continue", "suspend", "resume", "preempt", "kill", "fail", "lose", "speculate", "move", "revoke"} {
		if kinds[kind] == 0 {
			d.t.Errorf("no attempt has an event %q: %v", kind, kinds)
		}
	}
	for _, state := range []wire.JobState{wire.JobState_SUCCEEDED, wire.JobState_FAILED, wire.JobState_KILLED} {
		if states[state.String()] == 0 {
			d.t.Errorf("no job is %v: %v", state, states)
		}
	}
}
