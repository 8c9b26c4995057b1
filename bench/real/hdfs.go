package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// ground is the HDFS that jobs of trials read, for one trial after the other.
type ground struct {
	hammr string
	hdfs  *minihdfs.Cluster
	made  map[string]bool // input that is there
}

// prepare has a DataNode for each machine of a trial. A machine without Java or
// Hadoop's jars leaves the trial out.
func (g *ground) prepare(ctx context.Context, dir string, cluster sim.Config) (err error) {
	if err := minihdfs.Missing(ctx); err != nil {
		return &paper.LeftOut{Why: err.Error()}
	}
	if g.hdfs != nil && g.hdfs.DataNodes() == cluster.Nodes {
		return nil
	}
	if err := g.close(); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	g.made = make(map[string]bool)
	g.hdfs, err = minihdfs.Start(ctx, minihdfs.Config{
		Dir: dir, DataNodes: cluster.Nodes, BlockSize: blockBytes, Replication: max(cluster.Replication, 1),
		Racks: slices.Repeat([]string{"/rack1"}, cluster.Nodes),
	})
	return err
}

func (g *ground) close() error {
	if g.hdfs == nil {
		return nil
	}
	err := g.hdfs.Close()
	g.hdfs = nil
	return err
}

// input is the URI of what a job of a trial reads. All trials of a repetition read
// the same blocks, wherever chance has put them: this process has no DataNode at its
// address.
func (g *ground) input(ctx context.Context, scratch string, t paper.Trial, j readJob) (string, error) {
	path := fmt.Sprintf("/in-%s-%d-%s", fileName(t.Experiment), t.Seed, fileName(j.ID))
	uri := g.hdfs.URI() + path
	if g.made[path] {
		return uri, nil
	}
	local := filepath.Join(scratch, "input")
	if err := os.WriteFile(local, []byte(j.text()), 0o666); err != nil {
		return "", err
	}
	c := Cluster{hammr: g.hammr}
	_, err := c.do(ctx, "fs", "-D", fmt.Sprint("dfs.replication=", max(t.Cluster.Replication, 1)), "-D", fmt.Sprint("dfs.blocksize=", blockBytes), "-put", local, uri)
	if err == nil {
		err = g.hdfs.WaitReplicated(ctx)
	}
	if err = errors.Join(err, os.Remove(local)); err != nil {
		return "", fmt.Errorf("input of job %s: %w", j.ID, err)
	}
	g.made[path] = true
	return uri, nil
}

// output is a URI that no other job of the HDFS writes.
func (g *ground) output(t paper.Trial, job string) string {
	return g.hdfs.URI() + "/out-" + fileName(t.String()) + "-" + fileName(job)
}

// plan is a workload whose maps read.
func (g *ground) plan(ctx context.Context, scratch string, t paper.Trial, w *workload.Workload, fast float64) (Plan, error) {
	p := Plan{Name: w.Name, About: "tasks that read a block of HDFS, and sleep for each record"}
	for i := range w.Jobs {
		j := readJob{&w.Jobs[i], fast}
		in, err := g.input(ctx, scratch, t, j)
		if err != nil {
			return p, err
		}
		p.Jobs = append(p.Jobs, j.submitted(in, g.output(t, j.ID)))
	}
	return p, nil
}

// mend starts the DataNodes of machines that failed.
func (g *ground) mend(ctx context.Context, lost []Lost) (err error) {
	for _, l := range lost {
		err = errors.Join(err, g.hdfs.RestartDataNode(ctx, l.Node))
	}
	if err == nil && len(lost) > 0 {
		err = errors.Join(g.hdfs.WaitLive(ctx, g.hdfs.DataNodes()), g.hdfs.WaitReplicated(ctx))
	}
	return err
}
