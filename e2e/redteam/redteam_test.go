package redteam

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// attack is an attack of a user or of a stranger.
type attack struct {
	threat  string   // number in docs/reliability.md
	does    string   // what is tried
	expects []string // texts that the refusal has
	// run attacks and returns how the cluster has refused that.
	run func(t *testing.T, w *world) string
}

// TestRedTeam makes all attacks while alice's job runs. Those that fill the cluster, or restart tasknodes, are made
// at night.
func TestRedTeam(t *testing.T) {
	if reason := reasonToSkip(); reason != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	w := newWorld(t)
	w.stageProgram(t)
	job := w.startBystander(t)
	var done table
	t.Run("at once", func(t *testing.T) {
		for _, a := range slices.Concat(submissions(w), reports(w), probes(w, job), strangers(), doors()) {
			t.Run(a.threat+" "+a.does, func(t *testing.T) {
				t.Parallel()
				done.add(a, a.check(t, w))
			})
		}
	})
	for _, a := range floods() {
		t.Run(a.threat+" "+a.does, func(t *testing.T) {
			// Gate: internal/daemon.TestRefusedBodiesAreNotAwaited, internal/daemon.TestStrangersTakeThePlacesOfStrangers, internal/daemon.TestFileDescriptorsRemain, tasknode.TestLatestProgressOfEachAttemptIsBatched, tasknode.TestSetsOfATaskAreBounded, jobmaster.TestLimitsOfTheLeaderApply, cluster.TestLimitsCountUnfinishedJobs
			testlevel.Nightly(t)
			done.add(a, a.check(t, w))
		})
	}
	job.finish(t, w)
	t.Run("N5 histories and logs of all jobs", func(t *testing.T) {
		a := attack{"N5", "histories and logs of all jobs", []string{"Permission denied"}, readData(job)}
		done.add(a, a.check(t, w))
	})
	w.checkDaemons(t)
	w.checkLogs(t)
	for _, a := range restarts() {
		t.Run(a.threat+" "+a.does, func(t *testing.T) {
			// Gate: tasknode.TestFilesOfTasksAreOpenedOnlyIfRegular, tasknode.TestRecordsNameOnlyFilesOfTheirAttempt, shuffle/transfer.TestOpenDoesNotWaitForAFIFO
			testlevel.Nightly(t)
			done.add(a, a.check(t, w))
		})
	}
	w.checkFiles(t)
	done.print()
}

// check makes an attack and compares the refusal.
func (a attack) check(t *testing.T, w *world) (refusal string) {
	refusal = a.run(t, w)
	for _, text := range a.expects {
		if !strings.Contains(refusal, text) {
			t.Errorf("%q is not in the refusal:\n%s", text, refusal)
		}
	}
	return refusal
}

// table collects a line for each attack.
type table struct {
	mu struct {
		sync.Mutex
		rows []row
	}
}

// row is an attack that was made.
type row struct{ threat, does, refusal string }

func (d *table) add(a attack, refusal string) {
	line := refusal
	if len(a.expects) > 0 { // the part of a longer text that names the attack
		if i := strings.Index(refusal, a.expects[0]); i >= 0 {
			line = refusal[i:]
		}
	}
	line, _, _ = strings.Cut(line, "\n")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.rows = append(d.mu.rows, row{a.threat, a.does, line})
}

// print prints the lines if the test runs with -v.
func (d *table) print() {
	if !testing.Verbose() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortFunc(d.mu.rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.threat, b.threat), cmp.Compare(a.does, b.does)) })
	for _, r := range d.mu.rows {
		fmt.Printf("red team: %-4s %-58s %.160s\n", r.threat, r.does, r.refusal)
	}
}
