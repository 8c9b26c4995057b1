package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/minihdfs"
)

// Entries of Hammr that use the HDFS of their contest. One replica is enough for one process,
// and the DataNodes share the machine with it.
var (
	hdfsWordcount = Entry{"hammr from HDFS", func(k *Kit, in, out string) Command {
		return k.Ours([]string{"hammr", "run", "wordcount"}, k.onHDFS(in), out)
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
