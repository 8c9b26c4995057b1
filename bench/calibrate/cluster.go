package calibrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cluster is a real one of one master, in a directory of its own.
type cluster struct {
	cfg Config
	dir string
	env []string
}

// start starts a cluster under a policy. It is to be stopped.
func start(ctx context.Context, cfg Config, dir string, policy string) (*cluster, error) {
	c := &cluster{cfg: cfg, dir: dir}
	up := []string{
		"up", "--dir", dir, "--detach", "--tasknodes", strconv.Itoa(cfg.Nodes),
		"--map-slots", strconv.Itoa(cfg.MapSlots), "--reduce-slots", strconv.Itoa(cfg.ReduceSlots),
	}
	if _, err := c.hammr(ctx, up...); err != nil {
		return nil, err
	}
	err := c.look()
	if err == nil {
		_, err = c.hammr(ctx, append([]string{"scheduler", "set", policy}, confFlags(policy)...)...)
	}
	if err != nil {
		return nil, errors.Join(err, c.stop(ctx))
	}
	return c, nil
}

// look finds out how to reach the cluster.
func (c *cluster) look() error {
	data, err := os.ReadFile(filepath.Join(c.dir, "cluster.json"))
	if err != nil {
		return err
	}
	var state struct{ Masters []struct{ Address string } }
	if err := json.Unmarshal(data, &state); err != nil {
		return fmt.Errorf("cluster.json of %s: %w", c.dir, err)
	}
	if len(state.Masters) == 0 {
		return fmt.Errorf("cluster.json of %s names no master", c.dir)
	}
	c.env = []string{"HAMMR_MASTER=" + state.Masters[0].Address, "HAMMR_TOKEN_FILE=" + filepath.Join(c.dir, "token")}
	return nil
}

// stop ends the cluster and removes what it has left.
func (c *cluster) stop(ctx context.Context) error {
	_, err := c.hammr(context.WithoutCancel(ctx), "down", "--dir", c.dir)
	return errors.Join(err, os.RemoveAll(c.dir))
}

// run submits the jobs of a plan at their times, waits for all of them, and
// returns the directory with their histories.
func (c *cluster) run(ctx context.Context, p Plan) (histories string, err error) {
	begin := time.Now()
	var ids []string
	for _, j := range p.Jobs {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(time.Until(begin.Add(j.At))):
		}
		id, err := c.hammr(ctx, c.submission(j)...)
		if err != nil {
			return "", err
		}
		ids = append(ids, strings.TrimSpace(id))
	}
	for _, id := range ids {
		if _, err := c.hammr(ctx, "job", "wait", id); err != nil {
			return "", err
		}
	}
	histories = filepath.Join(c.dir, "history")
	return histories, awaitHistories(ctx, histories, len(ids))
}

// awaitHistories waits until all jobs have their histories: a master writes that of
// a job when it has told that the job is over.
func awaitHistories(ctx context.Context, dir string, jobs int) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) == jobs {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s has histories of %d jobs of %d: %w", dir, len(files), jobs, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *cluster) submission(j Job) []string {
	args := append([]string{"submit"}, j.Args...)
	if j.Out {
		args = append(args, filepath.Join(c.dir, "output", j.Name))
	}
	return args
}

// hammr runs a command of hammr and returns what it prints.
func (c *cluster) hammr(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.cfg.Hammr, args...)
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
