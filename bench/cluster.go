package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// emptyMaps is the number of tasks of a job whose tasks only start and end.
const emptyMaps = 1000

// onCluster returns the entry of a bundled program on the cluster that its contest has started. The
// client finds the cluster by its environment. Only the memory of the client is measured.
func onCluster(name string) Entry {
	return Entry{"hammr on a cluster", func(k *Kit, in, out string) Command {
		c := bundled(name)(k, in, out)
		c.Env = k.daemons.cluster.Environ()
		return c
	}}
}

// clusterMaps is a job whose tasks only start and end.
var clusterMaps = Entry{"1000 empty maps", func(k *Kit, _, _ string) Command {
	c := k.Ours([]string{"hammr", "run", "sleep"}, "-D", "mapreduce.job.reduces=0", "-m", strconv.Itoa(emptyMaps), "-mt", "0")
	c.Env = k.daemons.cluster.Environ()
	return c
}}

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
			Ours: onCluster("wordcount"), Goals: Goals{Seconds: 0.150}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-maps", About: "1000 empty maps through three masters and four tasknodes", Input: tinyInput,
			Ours: clusterMaps, Tasks: emptyMaps, Goals: Goals{Seconds: 3.333}, OnlyByName: true, Prepare: startCluster(3, 4),
		},
		{
			Name: "cluster-wordcount", About: "wordcount on one tasknode, against one process", Input: textInput,
			Ours: onCluster("wordcount"), Rival: wordcount, Compare: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-terasort", About: "four times the records on one tasknode, against one process", Input: bigTeraInput,
			Ours: onCluster("terasort"), Rival: terasort, Compare: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, OnlyByName: true, Prepare: startCluster(1, 1),
		},
	}
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
			k.daemons = nil
			return errors.Join(c.Close(), os.RemoveAll(dir))
		}
		if k.daemons, err = daemonsOf(c); err != nil {
			return nil, errors.Join(err, cleanup())
		}
		return cleanup, nil
	}
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
