package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Entries that run on a cluster, whose memory is that of the client alone.
var (
	clusterWordcount = Entry{"hammr on a cluster", func(k *Kit, in, out string) Command {
		return k.onCluster("wordcount", in, out)
	}}
	clusterTerasort = Entry{"hammr on a cluster", func(k *Kit, in, out string) Command {
		return k.onCluster("terasort", in, out)
	}}
	clusterMaps = Entry{"1000 empty maps", func(k *Kit, _, _ string) Command {
		return k.onCluster("sleep", "-m", "1000", "-r", "0", "-mt", "0")
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
			Ours: clusterWordcount, Goals: Goals{Seconds: 0.150}, Asked: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-maps", About: "1000 empty maps through three masters and four tasknodes", Input: tinyInput,
			Ours: clusterMaps, Goals: Goals{Seconds: 1000.0 / 300}, Asked: true, Prepare: startCluster(3, 4),
		},
		{
			Name: "cluster-wordcount", About: "wordcount on one tasknode, against one process", Input: textInput,
			Ours: clusterWordcount, Rival: wordcount, Same: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, Asked: true, Prepare: startCluster(1, 1),
		},
		{
			Name: "cluster-terasort", About: "four times the records on one tasknode, against one process", Input: bigTeraInput,
			Ours: clusterTerasort, Rival: terasort, Same: sameBytes, Goals: Goals{Ratio: slowerBy(1.15)}, Asked: true, Prepare: startCluster(1, 1),
		},
	}
}

// onCluster is a run of a bundled program on the cluster that a contest has
// started.
func (k *Kit) onCluster(name string, args ...string) Command {
	c := k.ours([]string{"hammr", "run", name}, args...)
	c.Env = []string{"HAMMR_MASTER=" + k.masters, "HAMMR_TOKEN_FILE=" + filepath.Join(k.clusterDir(), "token")}
	return c
}

func (k *Kit) clusterDir() string { return filepath.Join(k.work, "cluster") }

// startCluster starts a cluster with two slots of each kind on each tasknode.
func startCluster(masters, tasknodes int) func(ctx context.Context, k *Kit) (cleanup func() error, err error) {
	return func(ctx context.Context, k *Kit) (func() error, error) {
		hammr, dir := k.program("hammr"), k.clusterDir()
		up := []string{
			hammr, "up", "--dir", dir, "--detach", "--map-slots", "2", "--reduce-slots", "2",
			"--masters", strconv.Itoa(masters), "--tasknodes", strconv.Itoa(tasknodes),
		}
		if err := run(ctx, Command{Args: up}); err != nil {
			return nil, err
		}
		cleanup := func() error {
			if err := run(context.WithoutCancel(ctx), Command{Args: []string{hammr, "down", "--dir", dir}}); err != nil {
				return err
			}
			return os.RemoveAll(dir)
		}
		var err error
		if k.masters, err = mastersOf(dir); err != nil {
			return nil, errors.Join(err, cleanup())
		}
		return cleanup, nil
	}
}

// mastersOf are the addresses of the masters of the cluster in dir.
func mastersOf(dir string) (string, error) {
	var state struct{ Masters []struct{ Address string } }
	if err := readJSON(filepath.Join(dir, "cluster.json"), &state); err != nil {
		return "", fmt.Errorf("masters of the cluster: %w", err)
	}
	var addresses []string
	for _, m := range state.Masters {
		addresses = append(addresses, m.Address)
	}
	return strings.Join(addresses, ","), nil
}
