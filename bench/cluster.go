package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// emptyMaps is the number of tasks of a job whose tasks only start and end.
const emptyMaps = 1000

// Entries that run on a cluster. Only the memory of the client is measured.
var (
	clusterWordcount = Entry{"hammr on a cluster", func(k *Kit, in, out string) Command {
		return k.onCluster("wordcount", in, out)
	}}
	clusterTerasort = Entry{"hammr on a cluster", func(k *Kit, in, out string) Command {
		return k.onCluster("terasort", in, out)
	}}
	clusterMaps = Entry{"1000 empty maps", func(k *Kit, _, _ string) Command {
		return k.onCluster("sleep", "-D", "mapreduce.job.reduces=0", "-m", strconv.Itoa(emptyMaps), "-mt", "0")
	}}
)

// slowerBy returns the ratio for a run that takes the given multiple of the rival's time. A
// goal is the rival's time divided by ours.
func slowerBy(times float64) float64 { return 1 / times }

// clusterContests compare a cluster of processes on this machine with the same
// program in one process.
//
// They run only when they are named, since they take minutes and start daemons. Jobs of
// empty tasks have goals in seconds. All others have a ratio to the same program in one
// process, which shows what a cluster adds.
func clusterContests() []Contest {
	return []Contest{
		{
			Name: "cluster-start", About: "a job of 1 KB on one master and one tasknode", Input: tinyInput,
			Ours: clusterWordcount, Goals: Goals{Seconds: 0.150}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-maps", About: "1000 empty maps through three masters and four tasknodes", Input: tinyInput,
			Ours: clusterMaps, Tasks: emptyMaps, Goals: Goals{Seconds: 3.333}, OnlyByName: true, Prepare: startCluster(3, 4),
		},
		{
			Name: "cluster-wordcount", About: "wordcount on one tasknode, against one process", Input: textInput,
			Ours: clusterWordcount, Rival: wordcount, Compare: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-terasort", About: "four times the records on one tasknode, against one process", Input: bigTeraInput,
			Ours: clusterTerasort, Rival: terasort, Compare: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
	}
}

// onCluster runs a bundled program on the cluster that a contest has started. The client
// finds the cluster by its environment.
func (k *Kit) onCluster(name string, args ...string) Command {
	c := k.Ours([]string{"hammr", "run", name}, args...)
	c.Env = k.daemons.cluster.Environ()
	return c
}

// startCluster returns a Prepare function. It starts a cluster with two slots of each kind
// on each tasknode. The cluster is removed after the contest.
func startCluster(masters, tasknodes int) func(ctx context.Context, k *Kit) (cleanup func() error, err error) {
	return func(ctx context.Context, k *Kit) (func() error, error) {
		dir := filepath.Join(k.work, "cluster")
		c, err := testcluster.Start(ctx, testcluster.Config{
			Hammr:  k.Program("hammr"),
			Config: localcluster.Config{Dir: dir, Masters: masters, Tasknodes: tasknodes, MapSlots: 2, ReduceSlots: 2},
		})
		if err != nil {
			return nil, err
		}
		cleanup := func() error {
			k.daemons, k.notes = nil, nil
			return errors.Join(c.Close(), os.RemoveAll(dir))
		}
		if err := k.inspectCluster(c); err != nil {
			return nil, errors.Join(err, cleanup())
		}
		return cleanup, nil
	}
}

// inspectCluster finds the processes of a cluster, and measures the disk of its logs. Small
// jobs spend most of their time in syncs of the log, so the result notes how fast the disk
// is.
func (k *Kit) inspectCluster(c *testcluster.Cluster) error {
	disk, err := syncLatency(c.Dir())
	if err != nil {
		return err
	}
	k.notes = append(k.notes, syncNote(disk))
	k.daemons, err = daemonsOf(c)
	return err
}

// The disk of a cluster's logs is measured by repeated writes and syncs of a page, like
// entries of a log.
const (
	syncRounds = 100
	syncBytes  = 4096
)

// syncLatency returns the time in which a disk makes a page durable. It uses fdatasync, as the
// masters' logs do, in the same directory.
func syncLatency(dir string) (s Spread, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	page := make([]byte, syncBytes)
	var seconds []float64
	for range syncRounds {
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return s, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return s, fmt.Errorf("sync of %s: %w", f.Name(), err)
		}
		seconds = append(seconds, time.Since(start).Seconds())
	}
	return spreadOf(seconds), nil
}

// syncNote returns a note on a disk's latency. The range shows how steady the disk is.
func syncNote(s Spread) string {
	return fmt.Sprintf("the disk syncs a page in %.2f ms (%.2f to %.2f)", s.Median*1e3, s.Min*1e3, s.Max*1e3)
}

// Entries of Hammr that use the HDFS of their contest. One replica is enough for one process,
// and the DataNodes share the machine with it.
var (
	hdfsWordcount = Entry{"hammr from HDFS", func(k *Kit, in, out string) Command {
		return bundled("wordcount")(k, k.onHDFS(in), out)
	}}
	hdfsTerasort = Entry{"hammr on HDFS", func(k *Kit, in, out string) Command {
		return k.Ours([]string{"hammr", "run", "terasort"}, "-D", "dfs.replication=1", k.onHDFS(in), k.onHDFS(out))
	}}
)

// hdfsContests returns the comparisons of files on an HDFS on this machine with local files.
func hdfsContests() []Contest {
	return []Contest{
		{
			Name: "wordcount-hdfs", About: "from an HDFS on this machine, against the local file; needs Java and Maven",
			Input: textInput, Ours: hdfsWordcount, Rival: wordcount, Compare: sameBytes, Goals: Goals{Ratio: 0.85},
			OnlyByName: true, Prepare: startHDFS(textInput),
		},
		{
			Name: "terasort-hdfs", About: "from and to an HDFS on this machine, against local files; needs Java and Maven",
			Input: teraInput, Ours: hdfsTerasort, Rival: terasort, Compare: sameBytes, Goals: Goals{Ratio: 0.6},
			OnlyByName: true, OutputOnHDFS: true, Prepare: startHDFS(teraInput),
		},
	}
}

// startHDFS returns a Prepare function. It starts an HDFS and puts the input into it.
func startHDFS(in Input) func(ctx context.Context, k *Kit) (cleanup func() error, err error) {
	return func(ctx context.Context, k *Kit) (cleanup func() error, err error) {
		dir := filepath.Join(k.work, "hdfs")
		hdfs, err := minihdfs.Start(ctx, minihdfs.Config{Dir: dir})
		if err != nil {
			return nil, err
		}
		cleanup = func() error { return errors.Join(hdfs.Close(), os.RemoveAll(dir)) }
		k.hdfs = hdfs.URI()
		for _, args := range [][]string{
			{"-mkdir", "-p", "/bench"}, {"-D", "dfs.replication=1", "-put", in.path(k), k.onHDFS(in.path(k))},
		} {
			if err := k.fs(ctx, args...); err != nil {
				return nil, errors.Join(err, cleanup())
			}
		}
		return cleanup, nil
	}
}

// onHDFS returns the name on the contest's HDFS that stands for a local file.
func (k *Kit) onHDFS(file string) string { return k.hdfs + "/bench/" + filepath.Base(file) }

// fs runs a command of hammr fs on the contest's HDFS.
func (k *Kit) fs(ctx context.Context, args ...string) error {
	return run(ctx, Command{Args: append([]string{k.Program("hammr"), "fs", "-fs", k.hdfs}, args...)})
}

// remove removes an output of a contest from the local disk, and from HDFS if it is there.
func (k *Kit) remove(ctx context.Context, c Contest, out string) (err error) {
	if c.OutputOnHDFS {
		err = k.fs(ctx, "-rm", "-r", "-f", k.onHDFS(out))
	}
	return errors.Join(err, os.RemoveAll(out))
}
