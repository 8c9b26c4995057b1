package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/kit/validate"
)

// Config describes a cluster and the access to its machines.
type Config struct {
	// File is the hostfile, a list of machines. Required.
	File hostfile.File
	// Shell runs a command, which is added as its last word, on a machine: {host} stands
	// for the machine's name in the hostfile. Default hostfile.DefaultShell.
	Shell []string
	// Program is the file of the program for the machines. Required for Start and Upgrade.
	Program string
	// TokenFile has the cluster's secret on this machine; it is made if necessary. Required
	// for all that asks the masters.
	TokenFile string
	// Timeout bounds the start of a daemon, and its end before it is killed. Default 60 s.
	Timeout time.Duration
	// AtOnce is the number of machines that are worked on at once. Default 32.
	AtOnce int
	// Check checks the settings of a daemon as the daemon does. Default no check.
	Check func(role string, settings map[string]string) error
	// JobUser is the user of the jobs that the caller will submit: Start refuses tasknodes that
	// would refuse them, since they run as root. Default "": not known.
	JobUser string
	// Progress receives a line about a machine. It is called by several goroutines at once.
	// Default none.
	Progress func(host, text string)
	// DryRun receives the scripts that would be run, instead of running them. The machines
	// are surveyed all the same. Default nil: the scripts run.
	DryRun io.Writer
	// Connect opens a client of the masters, of one or of several. Required for all that
	// asks the masters.
	Connect func(masters []string, token string) (Admin, error)
}

// EnsureDefaults replaces zero fields by their defaults.
func (c *Config) EnsureDefaults() {
	if len(c.Shell) == 0 {
		c.Shell = strings.Fields(hostfile.DefaultShell)
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.AtOnce == 0 {
		c.AtOnce = 32
	}
	if c.Check == nil {
		c.Check = func(string, map[string]string) error { return nil }
	}
	if c.Progress == nil {
		c.Progress = func(string, string) {}
	}
}

// Validate reports every error at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.TokenFile != "", "no file for the cluster's token"),
		validate.That(c.Timeout >= time.Second, "time limit %v: expected at least 1s", c.Timeout),
		validate.That(c.AtOnce >= 1, "%d machines at once: expected at least 1", c.AtOnce),
	)
}

// Cluster is a cluster on the machines of a hostfile, running or not. It is used by one
// goroutine; its methods use several while they run.
type Cluster struct {
	cfg     Config
	plan    *Plan
	shell   *shell
	surveys []*survey // by index of plan.Hosts; nil for a machine that does not answer
	errs    []error   // why a machine does not answer, by the same index
	output  sync.Mutex

	jars struct {
		sync.Mutex
		archive *jarArchive // nil until a machine needs it
	}
}

// Open surveys the machines of a hostfile. A machine that does not answer is not an error yet:
// Status shows it, and the other methods report it. The caller calls Close.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	cfg.EnsureDefaults()
	plan, err := NewPlan(cfg.File)
	if err := errors.Join(err, cfg.Validate()); err != nil {
		return nil, err
	}
	sh, err := newShell(cfg.Shell)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, plan: plan, shell: sh}
	if err := c.Look(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the connections to the machines.
func (c *Cluster) Close() error { return c.shell.close() }

// Plan returns the plan as far as it is known.
func (c *Cluster) Plan() *Plan { return c.plan }

// Look surveys all machines again, and completes the plan from what they have. Open has done
// so too.
func (c *Cluster) Look(ctx context.Context) error {
	n := len(c.plan.Hosts)
	c.surveys, c.errs = make([]*survey, n), make([]error, n)
	c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		c.surveys[i], c.errs[i] = c.surveyHost(ctx, &c.plan.Hosts[i])
		return nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	dropped, err := c.plan.adopt(c.surveys)
	if err != nil {
		return err
	}
	for _, name := range dropped {
		c.cfg.Progress(name, "belongs to the cluster and is not in the hostfile; it is left as it is")
	}
	return nil
}

// surveyTimeout bounds the survey of one machine: its connection, and a few short commands.
const surveyTimeout = 90 * time.Second

func (c *Cluster) surveyHost(ctx context.Context, h *Host) (*survey, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, surveyTimeout, fmt.Errorf("no answer within %v; start the machine, or remove its line from the hostfile", surveyTimeout))
	defer cancel()
	text, err := c.shell.run(ctx, h, c.plan.script(h, "survey"))
	if err != nil {
		return nil, err
	}
	s, err := parseSurvey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name, err)
	}
	return s, nil
}

// answered returns an error that names all machines that do not answer.
func (c *Cluster) answered() error { return errors.Join(c.errs...) }

// all returns the indexes of all hosts.
func (c *Cluster) all() []int { return c.where(func(int) bool { return true }) }

// where returns the indexes of the hosts that match.
func (c *Cluster) where(matches func(i int) bool) (hosts []int) {
	for i := range c.plan.Hosts {
		if matches(i) {
			hosts = append(hosts, i)
		}
	}
	return hosts
}

// each calls do for hosts, for some of them at once, and returns all errors in the order of
// the hosts. After a failure it continues with the others.
func (c *Cluster) each(ctx context.Context, hosts []int, do func(ctx context.Context, i int) error) error {
	return syncutil.Each(hosts, c.cfg.AtOnce, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return do(ctx, i)
	})
}

// act runs calls of script.sh on a host, or prints them in a dry run.
func (c *Cluster) act(ctx context.Context, h *Host, calls ...string) (stdout string, err error) {
	if c.cfg.DryRun != nil {
		c.print(h, "sh -s", c.plan.variables(h)+strings.Join(calls, "\n"))
		return "", nil
	}
	return c.shell.run(ctx, h, c.plan.script(h, calls...))
}

// send copies the program to a host.
func (c *Cluster) send(ctx context.Context, h *Host, p *program) error {
	return c.feed(ctx, h, "receive "+p.hash, p.file+".gz", p.stream)
}

// feed runs a call that reads a file from its standard input, or prints it in a dry run. open
// returns the content.
func (c *Cluster) feed(ctx context.Context, h *Host, call, file string, open func() (io.Reader, error)) error {
	if c.cfg.DryRun != nil {
		c.print(h, "sh -c ... < "+file, c.plan.variables(h)+call)
		return nil
	}
	stream, err := open()
	if err != nil {
		return err
	}
	_, err = c.shell.feed(ctx, h, c.plan.script(h, call), stream)
	return err
}

// print prints a script for a host.
func (c *Cluster) print(h *Host, command, script string) {
	c.output.Lock()
	defer c.output.Unlock()
	words := strings.Join(hostfile.ShellWords(c.cfg.Shell, h.Target), " ")
	fmt.Fprintf(c.cfg.DryRun, "# %s: %s %s\n%s\n\n", h.Name, words, command, script)
}

// Functions returns the functions that the scripts of a dry run call.
func Functions() string { return functions }
