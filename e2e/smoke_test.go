package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSmoke is the cluster of `make check`. While a job runs on three masters and three tasknodes, the leader
// and a tasknode that has finished maps are killed, and another tasknode is drained. The output, the page and
// the API are right.
func TestSmoke(t *testing.T) {
	t.Parallel()
	c := newRiggedWith(t, 2*time.Second, 3)
	in := proseFile(t, "prose", 120<<10)
	want := peace(t, in)
	id := "job_" + c.state.ID + "_0001"
	w := c.watch(id, in)
	leader := c.leads()
	must.Do(t, c.rig.Kill(t.Context(), leader))
	c.leads(leader)
	must.Do(t, c.rig.Kill(t.Context(), c.state.Tasknodes[0].Name))
	c.done("node", "drain", c.state.Tasknodes[1].Name, "--deadline", "60s")
	w.wait(t).want(t, 0)
	wantSameTree(t, w.out, want)

	b := newBrowser(t, c.serveUI(filepath.Join(c.dir, localcluster.TokenFile)), filepath.Join(c.dir, localcluster.TokenFile))
	if page := b.page("/jobs/" + id); !strings.Contains(page, "SUCCEEDED") {
		t.Errorf("the page of the job:\n%.2000s", page)
	}
	var doc report.Report
	b.json("/jobs/"+id, &doc)
	if doc.JobID != id || doc.State != report.Succeeded {
		t.Errorf("the API has job %q in state %q", doc.JobID, doc.State)
	}
}
