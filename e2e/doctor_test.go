package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/ops/doctor"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// examine runs `hammr doctor` on a cluster and returns its report and its exit code.
func examine(t *testing.T, c *testcluster.Cluster, args ...string) (doctor.Report, int) {
	t.Helper()
	r := start(t, command{args: append([]string{"doctor", "--json"}, args...), env: c.Environ()}).wait(t)
	var report doctor.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	return report, r.code
}

// wantFault checks that a report has a fault of a check whose detail has a text, and the exit code of a fault.
func wantFault(t *testing.T, r doctor.Report, code int, check, text string) {
	t.Helper()
	found := slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool {
		return f.Check == check && f.State == doctor.Fault && strings.Contains(f.Detail, text) && f.Remedy != ""
	})
	if !found || code != 1 {
		t.Errorf("exit code %d, no fault of %s with %q in %+v", code, check, text, r.Findings)
	}
}

// TestDoctorOfACluster examines a cluster of processes with the configurations of its daemons: nothing is wrong with
// it. Then the clock of a master and that of a tasknode jump, a tasknode stops, and a master stops.
func TestDoctorOfACluster(t *testing.T) {
	t.Parallel()
	c, err := testcluster.Start(t.Context(), testcluster.Config{
		Config: localcluster.Config{
			Dir: filepath.Join(t.TempDir(), "cluster"), Masters: 3, Tasknodes: 2,
			MasterFlags: []string{"--drills"}, TasknodeFlags: []string{"--drills"},
		},
		Hammr: hammr, Expiry: patient, Heartbeat: 200 * time.Millisecond,
	})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	configs := configurations(t, c)
	report, code := examine(t, c, slices.Concat([]string{"--cluster"}, configs)...)
	if report.Count(doctor.Fault) > 0 || code != 0 {
		t.Errorf("exit code %d of a cluster that works: %+v", code, report.Findings)
	}
	for _, check := range doctor.Checks() {
		if !slices.ContainsFunc(report.Findings, func(f doctor.Finding) bool { return f.Check == check.Name }) {
			t.Errorf("the report has no finding of %s", check.Name)
		}
	}

	token, err := c.Token()
	must.Do(t, err)
	faults := faultrpc.NewClient(token)
	defer faults.Close()
	must.Do(t, faults.JumpClock(t.Context(), pageOf(t, c, "m2"), -time.Minute))
	must.Do(t, faults.JumpClock(t.Context(), pageOf(t, c, "n2"), 90*time.Second)) // as measured, it may be a little less
	report, code = examine(t, c, slices.Concat([]string{"--only", "clock"}, configs)...)
	wantFault(t, report, code, "clock", "behind this machine's")
	waitUntil(t, "a heartbeat has the clock of n2", func() bool {
		n, err := docs.Node.From(t.Context(), c.Client(), docs.NodeID{Node: "n2"})
		must.Do(t, err)
		return time.Duration(n.ClockSkew)*time.Millisecond > time.Minute
	})
	report, code = examine(t, c, "--cluster", "--only", "tasknode-clocks")
	wantFault(t, report, code, "tasknode-clocks", "n2: its clock is 1m")

	must.Do(t, c.Kill(t.Context(), "n1"))
	waitUntil(t, "n1 is lost", func() bool {
		n, err := docs.Node.From(t.Context(), c.Client(), docs.NodeID{Node: "n1"})
		must.Do(t, err)
		return n.State == "LOST"
	})
	report, code = examine(t, c, "--cluster", "--only", "tasknodes")
	wantFault(t, report, code, "tasknodes", "n1: ")

	must.Do(t, c.Stop(t.Context(), "m3"))
	report, code = examine(t, c, "--cluster", "--only", "masters")
	wantFault(t, report, code, "masters", "m3 at ")
	must.Do(t, c.Kill(t.Context(), "m3"))
	must.Do(t, c.Kill(t.Context(), "m2"))
	alone, err := c.ClientOf("m1")
	must.Do(t, err)
	defer alone.Close()
	waitUntil(t, "m1 has no majority", func() bool {
		info, err := alone.Info(t.Context())
		return err == nil && info.Leader == ""
	})
	report, code = examine(t, c, "--cluster", "--only", "masters,tasknodes", "--timeout", "1s")
	if !slices.ContainsFunc(report.Findings, func(f doctor.Finding) bool { return strings.HasPrefix(f.Detail, "no master leads") }) {
		t.Errorf("findings of a cluster without a leader: %+v", report.Findings)
	}
	wantFault(t, report, code, "masters", "1 of 3 masters answer, which is no majority")
	must.Do(t, c.Kill(t.Context(), "m1"))
	report, code = examine(t, c, "--cluster", "--timeout", "1s", "--only", "masters,replication,pages")
	wantFault(t, report, code, "masters", "no master answers")
}

// configurations writes the configuration of each daemon of a cluster and returns the flags that name the files.
func configurations(t *testing.T, c *testcluster.Cluster) (flags []string) {
	t.Helper()
	state, err := localcluster.ReadState(c.Dir())
	must.Do(t, err)
	dir := t.TempDir()
	write := func(name, text string, p localcluster.Process) {
		file := filepath.Join(dir, name+".yaml")
		text += fmt.Sprintf("dir: %s\naddress: %s\nhttp: %s\ntoken-file: %s\n", p.Dir, p.Address, p.HTTP, c.TokenFile())
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		flags = append(flags, "--config", file)
	}
	for _, m := range state.Masters {
		write(m.ID, fmt.Sprintf("id: %s\nstaging: file://%s/staging\n", m.ID, c.Dir()), m.Process)
	}
	for _, n := range state.Tasknodes {
		write(n.Name, fmt.Sprintf("name: %s\nmasters: %s\nown-user: true\n", n.Name, strings.Join(c.Addresses(), ",")), n.Process)
	}
	return flags
}

func pageOf(t *testing.T, c *testcluster.Cluster, name string) string {
	t.Helper()
	p, err := c.Process(name)
	must.Do(t, err)
	return p.HTTP
}
