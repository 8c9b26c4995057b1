package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// hdfsInput is the HDFS that jobs of trials read, shared by one trial after the other.
//
//	prepare ─► input of a repetition ─► trials of its arms ─► next repetition: old input removed
//	   └── again only if the number of machines or the links differ
type hdfsInput struct {
	program  testcluster.Program // hammr, as it uses this HDFS
	uri      string              // of the root; "" before there is an HDFS
	machines map[string]string   // names of the tasknodes, by the hosts of the DataNodes
	hdfs     *minihdfs.Cluster   // nil before it is started, and on a Testbed
	links    *links              // networks of its machines; nil for the loopback device
	seed     uint64              // seed of the trials that read the present files
	written  []string
}

// attach makes the HDFS of a cluster on a Testbed the input's. It is another process each time,
// with the data of the one before.
func (g *hdfsInput) attach(c *Cluster) {
	g.program, g.uri, g.machines = c.Program(), c.files, make(map[string]string)
	for _, h := range c.ssh.Plan().Hosts {
		g.machines[h.Address] = h.Name
	}
}

// prepare starts an HDFS with a DataNode for each machine of a trial. Without Java or
// Hadoop's jars the trial is left out. All DataNodes are in one rack.
func (g *hdfsInput) prepare(ctx context.Context, dir string, cluster sim.Config, s Scale) (err error) {
	if err := minihdfs.CheckAvailable(ctx); err != nil {
		return &paper.LeftOut{Reason: err.Error()}
	}
	if g.hdfs != nil && g.hdfs.DataNodes() == cluster.Machines && g.mbits() == s.Link {
		return nil
	}
	if err := errors.Join(g.close(), os.RemoveAll(dir)); err != nil {
		return err
	}
	cfg := minihdfs.Config{
		Dir: dir, DataNodes: cluster.Machines, Replication: max(cluster.Replication, 1),
		Racks: slices.Repeat([]string{"/rack1"}, cluster.Machines), Properties: map[string]string{deadAfter: "300000"},
	}
	if s.Link > 0 {
		if g.links, err = newLinks(cluster.Machines, s.Link); err != nil {
			return err
		}
		cfg.Network, cfg.Namespaces = linksNetwork, g.links.namespaces
	}
	if g.hdfs, err = minihdfs.Start(ctx, cfg); err != nil {
		return err
	}
	g.uri, g.machines = g.hdfs.URI(), make(map[string]string)
	for i := range cluster.Machines {
		g.machines[g.hdfs.Host(i)] = tasknodeName(i)
	}
	return nil
}

// deadAfter is the property that decides when HDFS gives up a DataNode, in ms. Trials set it
// so high that a killed DataNode starts again before, so HDFS copies no block during a
// trial. Hadoop's default waits for ten minutes.
const deadAfter = "dfs.namenode.heartbeat.recheck-interval"

// mbits returns the rate of the links; 0 for none.
func (g *hdfsInput) mbits() int {
	if g.links == nil {
		return 0
	}
	return g.links.mbits
}

// close ends HDFS and its links. prepare may start another one afterwards.
func (g *hdfsInput) close() (err error) {
	if g.hdfs != nil {
		err = g.hdfs.Close()
	}
	if g.links != nil {
		err = errors.Join(err, g.links.bridge.Remove())
	}
	g.hdfs, g.links, g.written = nil, nil, nil
	return err
}

// input returns the URI of the input of a job of a trial. All trials of a repetition read
// the same blocks. HDFS places the blocks at random, since this process has no DataNode at
// its address. The links are not limited while the input is written. The file name contains
// the seed, so that each repetition writes a file of its own with another placement.
func (g *hdfsInput) input(ctx context.Context, t paper.Trial, j blockReadingJob) (uri string, err error) {
	path := fmt.Sprintf("/in-%s-%d-%s", fileName(t.Experiment), t.Seed, fileName(j.ID))
	uri = g.uri + path
	if slices.Contains(g.written, uri) {
		return uri, nil
	}
	if err := g.removeOldInputs(ctx, t.Seed); err != nil {
		return "", err
	}
	if g.links != nil {
		if err := g.links.limit(0); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, g.links.limit(g.links.mbits)) }()
	}
	if err := g.write(ctx, uri, max(t.Cluster.Replication, 1), j.block, j.writeText); err != nil {
		return "", fmt.Errorf("input of job %s: %w", j.ID, err)
	}
	g.written = append(g.written, uri)
	return uri, nil
}

// write writes the input of a job, and waits for its replicas. The text is generated while
// it is written, so this machine has no local copy of it. block is in bytes.
func (g *hdfsInput) write(ctx context.Context, uri string, copies, block int, writeText func(io.Writer) error) error {
	if _, err := g.program.Run(ctx, "fs", "-mkdir", "-p", g.uri+"/"); err != nil { // of a Testbed, whose HDFS may be new
		return err
	}
	text, to := io.Pipe()
	go func() { to.CloseWithError(writeText(to)) }()
	defer text.Close()
	_, err := g.program.Feed(ctx, text, "fs", "-D", fmt.Sprint("dfs.replication=", copies), "-D", fmt.Sprint("dfs.blocksize=", block), "-put", "-f", "-", uri)
	if err != nil {
		return err
	}
	return syncutil.Poll(ctx, time.Second, func(ctx context.Context) (bool, error) {
		blocks, err := g.locateBlocks(ctx, uri)
		return !slices.ContainsFunc(blocks, func(hosts []string) bool { return len(hosts) < copies }), err
	})
}

// removeOldInputs removes the inputs of other repetitions. Otherwise the disk of this
// machine would fill up.
func (g *hdfsInput) removeOldInputs(ctx context.Context, seed uint64) error {
	if g.seed != seed && len(g.written) > 0 {
		if _, err := g.program.Run(ctx, append([]string{"fs", "-rm"}, g.written...)...); err != nil {
			return err
		}
		g.written = nil
	}
	g.seed = seed
	return nil
}

// output returns a URI that is unique in this HDFS.
func (g *hdfsInput) output(t paper.Trial, job string) string {
	return g.uri + "/out-" + fileName(t.String()) + "-" + fileName(job)
}

// plan returns a workload whose maps read blocks. The hosts of blocks are read after the
// write, since HDFS chooses them.
func (g *hdfsInput) plan(ctx context.Context, t paper.Trial, w *workload.Workload, s Scale) (Plan, error) {
	p := Plan{Name: w.Name}
	for i := range w.Jobs {
		j := s.reading(&w.Jobs[i])
		in, err := g.input(ctx, t, j)
		if err != nil {
			return p, err
		}
		job := j.submitted(in, g.output(t, j.ID))
		if job.blockHosts, err = g.locateBlocks(ctx, in); err != nil {
			return p, err
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p, nil
}

// restartDataNodes starts the DataNodes of failed machines. The next trial then starts with
// all replicas.
func (g *hdfsInput) restartDataNodes(ctx context.Context, lost []LostMachine) (err error) {
	if g.hdfs == nil || len(lost) == 0 {
		return nil
	}
	for _, l := range lost {
		err = errors.Join(err, g.hdfs.DataNode(l.Machine).Restart(ctx))
	}
	if err == nil {
		err = errors.Join(g.hdfs.WaitLive(ctx, g.hdfs.DataNodes()), g.hdfs.WaitReplicated(ctx))
	}
	return err
}
