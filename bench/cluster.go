package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// emptyMaps is how many tasks a job has that only begins and ends tasks.
const emptyMaps = 1000

// slowSync is by how much a write of a slow disk takes longer.
const slowSync = "5ms"

// Entries that run on a cluster, whose memory is that of the client alone.
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
	clusterSleep = Entry{"8 sleeping maps", func(k *Kit, _, _ string) Command {
		return k.onCluster("sleep", "-D", "mapreduce.job.reduces=0", "-m", "8", "-mt", "30000")
	}}
)

// slowerBy is the ratio of a run that takes that many times as long.
func slowerBy(times float64) float64 { return 1 / times }

// clusterContests compare a cluster of processes on this machine with the same
// program in one process.
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
			Name: "cluster-maps-slowdisk", About: "the same where each write to a master's log takes " + slowSync + " longer", Input: tinyInput,
			Ours: clusterMaps, Tasks: emptyMaps, OnlyByName: true, Prepare: startCluster(3, 4, "HAMMR_STORE_DELAY="+slowSync),
		},
		{
			Name: "cluster-masters", About: "what masters take while 8 tasks sleep", Input: tinyInput,
			Ours: clusterSleep, Goals: Goals{MasterShare: 0.02}, OnlyByName: true, SingleRound: true, Prepare: startCluster(3, 4),
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

// onCluster is a run of a bundled program on the cluster that a contest has
// started.
func (k *Kit) onCluster(name string, args ...string) Command {
	c := k.ours([]string{"hammr", "run", name}, args...)
	c.Env = []string{"HAMMR_MASTER=" + k.daemons.addresses(), "HAMMR_TOKEN_FILE=" + filepath.Join(k.clusterDir(), "token")}
	return c
}

func (k *Kit) clusterDir() string { return filepath.Join(k.work, "cluster") }

// startCluster starts a cluster with two slots of each kind on each tasknode,
// its daemons with those variables in their environment.
func startCluster(masters, tasknodes int, environ ...string) func(ctx context.Context, k *Kit) (cleanup func() error, err error) {
	return func(ctx context.Context, k *Kit) (func() error, error) {
		hammr, dir := k.program("hammr"), k.clusterDir()
		up := []string{
			hammr, "up", "--dir", dir, "--detach", "--map-slots", "2", "--reduce-slots", "2",
			"--masters", strconv.Itoa(masters), "--tasknodes", strconv.Itoa(tasknodes),
		}
		if err := run(ctx, Command{Args: up, Env: environ}); err != nil {
			return nil, err
		}
		cleanup := func() error {
			k.daemons, k.notes = nil, nil
			if err := run(context.WithoutCancel(ctx), Command{Args: []string{hammr, "down", "--dir", dir}}); err != nil {
				return err
			}
			return os.RemoveAll(dir)
		}
		if err := k.inspectCluster(dir); err != nil {
			return nil, errors.Join(err, cleanup())
		}
		return cleanup, nil
	}
}

// inspectCluster finds out about the cluster in dir and the disk of its logs.
func (k *Kit) inspectCluster(dir string) error {
	disk, err := syncLatency(dir)
	if err != nil {
		return err
	}
	k.notes = append(k.notes, syncNote(disk))
	k.daemons, err = daemonsOf(dir)
	return err
}
