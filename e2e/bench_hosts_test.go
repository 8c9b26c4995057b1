//go:build deploy

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/netns"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
	"github.com/hammr/hammr/internal/testing/must"
)

// benchHosts are machines with a network namespace and a limited link each.
type benchHosts map[string]string // names of the namespaces, by address

// Enter implements sshtest.Network.
func (h benchHosts) Enter(cmd *exec.Cmd, host string) error { return netns.RunIn(cmd, h[host]) }

// startBenchHosts starts five machines with sshd, links of 1 Gbit/s and directories of their own. It
// returns their hostfile and the shell that reaches them.
func startBenchHosts(t *testing.T) (file, shell string) {
	t.Helper()
	bridge, err := netns.New("hosts", "10.77.0.1")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, bridge.Remove()) })
	hosts := make(benchHosts)
	for i := range 5 {
		name, address := fmt.Sprint("h", i+1), fmt.Sprint("10.77.0.", 11+i)
		must.Do(t, bridge.AddMachine(name, address))
		must.Do(t, bridge.LimitRate(name, 1000))
		hosts[address] = name
	}
	m := sshtest.StartOn(t, hosts, 2222, slices.Sorted(maps.Keys(hosts))...)
	file = newFile(t, "hosts", []byte(strings.Join(m.Hosts, "\n")+"\n* yarn-memory=1280 dir="+m.Dir+"/{host}\n"))
	t.Cleanup(func() {
		for _, host := range m.Hosts {
			if left, _ := filepath.Glob(filepath.Join(m.Dir, host, "experiment", "*.pid")); len(left) > 0 {
				t.Errorf("%v of ended experiments", left)
			}
		}
	})
	return file, m.Shell(sshtest.UserKey)
}

// TestBenchHosts runs an experiment of each paper on five machines, and checks that the report has a
// result of them for each arm, and that an experiment which is repeated resumes.
func TestBenchHosts(t *testing.T) {
	if os.Getenv("HAMMR_HADOOP_JARS") == "" { // the namespaces have no network to fetch them
		jars, err := minihdfs.YarnJars(t.Context())
		must.Do(t, err)
		t.Setenv("HAMMR_HADOOP_JARS", jars)
	}
	if !isolated(t) {
		return
	}
	file, shell := startBenchHosts(t)
	for _, c := range []struct{ paper, only, speed string }{
		{"hammr", "locality", "20"}, {"hfsp", "fig7", "20"}, {"fair", "timeouts", "20"}, {"chronos", "fifo-maps", "20"}, {"disco", "jobs", "10"},
	} {
		t.Run(c.paper, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := []string{"bench", "paper", c.paper, "--only", c.only, "--hostfile", file, "--shell", shell, "--speed", c.speed, "--runs", "1", "--timeout", "3m", "--out", out}
			run := func(more ...string) (stderr string) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), hammr, append(args, more...)...)
				var text strings.Builder
				cmd.Stderr = &text
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args, err, text.String())
				}
				return text.String()
			}
			run("--plan")
			run()
			report, err := os.ReadFile(filepath.Join(out, "report.md"))
			must.Do(t, err)
			var e live.Environment
			must.Do(t, jsonfile.Read(filepath.Join(out, "environment.json"), &e))
			trials, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
			must.Do(t, err)
			if len(e.Hosts) != 5 || e.Hosts[0].Link == nil || e.Hosts[0].Link.Rate == 0 || len(trials) == 0 || !strings.Contains(string(report), "machines of a hostfile") ||
				strings.Contains(string(report), c.only+", arm ") { // an arm that was left out
				t.Errorf("%d hosts, %d trials\n%s", len(e.Hosts), len(trials), report)
			}
			if text := run(); strings.Contains(text, "times as fast") {
				t.Errorf("the second run repeats trials:\n%s", text)
			}
		})
	}
	t.Run("compare", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"bench", "compare", "--hostfile", file, "--shell", shell, "--work", "wordcount,pagerank", "--rounds", "2", "--size", "4m", "--slots", "1", "--runs", "1", "--timeout", "3m", "--out", out}
		if text, err := exec.CommandContext(t.Context(), hammr, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		report, err := os.ReadFile(filepath.Join(out, "compare.md"))
		must.Do(t, err)
		for _, want := range []string{"| wordcount | hammr | 1 |", "| pagerank | hadoop | 1 |", "| pagerank | spark |"} {
			if !strings.Contains(string(report), want) || strings.Contains(string(report), "failed") {
				t.Errorf("no %q in\n%s", want, report)
			}
		}
		t.Log(string(report))
	})
}
