package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/minihdfs"
)

// Config is a cluster to start.
type Config struct {
	Hammr string // file of the hammr program
	Dir   string // of the cluster, which is made, and removed when the cluster is stopped

	Nodes, MapSlots, ReduceSlots int // slots are each tasknode's; at least 1 of each

	Policy string            // that gives out slots; "" for what the cluster has
	Conf   map[string]string // what the policy is set to
	Pools  []string          // that jobs may be in beside default

	Expiry time.Duration // silence after which a tasknode is given up; 0 for the default

	// HDFS has a DataNode for each tasknode, which has its address and fails with it.
	// nil is none.
	HDFS *minihdfs.Cluster

	links *links // that machines have, and HDFS too; nil for the loopback device
}

// Cluster is one that runs.
type Cluster struct {
	hammr string
	dir   string
	env   []string
	up    *command          // nil for one that was attached to
	hdfs  *minihdfs.Cluster // nil for none
}

// Start starts a cluster. It is to be stopped.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if err := os.MkdirAll(filepath.Dir(cfg.Dir), 0o777); err != nil {
		return nil, err
	}
	c := &Cluster{hammr: cfg.Hammr, dir: cfg.Dir, hdfs: cfg.HDFS}
	var err error
	if c.up, err = begin(ctx, exec.Command(cfg.Hammr, cfg.flags()...)); err != nil {
		return nil, fmt.Errorf("cluster in %s: %w", cfg.Dir, errors.Join(err, os.RemoveAll(cfg.Dir)))
	}
	if err = c.look(); err == nil && cfg.Policy != "" {
		err = c.SetPolicy(ctx, cfg.Policy, cfg.Conf)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// flags are those of hammr up.
func (cfg *Config) flags() []string {
	flags := []string{
		"up", "--dir", cfg.Dir, "--tasknodes", strconv.Itoa(cfg.Nodes),
		"--map-slots", strconv.Itoa(max(cfg.MapSlots, 1)), "--reduce-slots", strconv.Itoa(max(cfg.ReduceSlots, 1)),
	}
	if len(cfg.Pools) > 0 {
		flags = append(flags, "--pools", strings.Join(cfg.Pools, ","))
	}
	if cfg.HDFS != nil {
		hosts := make([]string, cfg.Nodes)
		for i := range hosts {
			hosts[i] = cfg.HDFS.Host(i)
		}
		flags = append(flags, "--addresses", strings.Join(hosts, ","))
	}
	if cfg.links != nil {
		flags = append(flags, "--namespaces", strings.Join(cfg.links.namespaces, ","), "--master-addresses", masterHost)
	}
	if cfg.Expiry > 0 {
		beat := min(max(cfg.Expiry/5, 100*time.Millisecond), time.Second)
		flags = append(flags, "--expiry", inMillis(cfg.Expiry), "--heartbeat", inMillis(beat))
	}
	return flags
}

// inMillis is a time as daemons take it, which know no fractions.
func inMillis(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// Attach finds the cluster of a directory, which goes on when it is stopped.
func Attach(hammr, dir string) (*Cluster, error) {
	c := &Cluster{hammr: hammr, dir: dir}
	err := c.look()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no cluster runs in %s; 'hammr up --dir %[1]s' starts one: %w", dir, err)
	}
	return c, err
}

// State is what runs.
func (c *Cluster) State() (*localcluster.State, error) { return localcluster.ReadState(c.dir) }

// look finds out how to reach the cluster.
func (c *Cluster) look() error {
	state, err := c.State()
	if err != nil {
		return err
	}
	if len(state.Masters) == 0 {
		return fmt.Errorf("%s of %s names no master", localcluster.StateFile, c.dir)
	}
	c.env = []string{
		"HAMMR_MASTER=" + strings.Join(state.Addresses(), ","), "HAMMR_TOKEN_FILE=" + filepath.Join(c.dir, localcluster.TokenFile),
	}
	return nil
}

// Stop ends the cluster and removes what it has left. One that was attached to
// stays.
func (c *Cluster) Stop() error {
	if c.up == nil {
		return nil
	}
	return errors.Join(c.up.end(), os.RemoveAll(c.dir))
}

// Histories is the directory in which masters write what was of jobs.
func (c *Cluster) Histories() string { return filepath.Join(c.dir, "history") }

// Logs is the directory of the daemons' logs.
func (c *Cluster) Logs() string { return filepath.Join(c.dir, "logs") }

// SetPolicy chooses who gives out slots.
func (c *Cluster) SetPolicy(ctx context.Context, policy string, conf map[string]string) error {
	conf, err := c.withAllocations(conf)
	if err != nil {
		return err
	}
	args := []string{"scheduler", "set", policy}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		args = append(args, "--conf", name+"="+conf[name])
	}
	_, err = c.do(ctx, args...)
	return err
}

// Policy is the name of the one that gives out slots.
func (c *Cluster) Policy(ctx context.Context) (string, error) {
	text, err := c.do(ctx, "scheduler", "show", "--json")
	if err != nil {
		return "", err
	}
	var shown struct{ Policy string }
	err = json.Unmarshal([]byte(text), &shown)
	return shown.Policy, err
}

// do runs a command of hammr and returns what it prints.
func (c *Cluster) do(ctx context.Context, args ...string) (string, error) {
	return c.feed(ctx, nil, args...)
}

// feed is do of a command that reads from its standard input.
func (c *Cluster) feed(ctx context.Context, in io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.hammr, args...)
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), c.env...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("hammr %s: %w\n%s", strings.Join(args, " "), err, tail(faults.String()))
	}
	return out.String(), nil
}

// tail is the end of a text.
func tail(text string) string {
	const enough = 2000
	return text[max(0, len(text)-enough):]
}
