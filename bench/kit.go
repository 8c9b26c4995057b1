package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// Kit has the programs and directories of one run.
//
//	DIR/text-1073741824      generated inputs, kept
//	DIR/work-1234/bin        programs of this run
//	DIR/work-1234/ours …     outputs, removed after each run
type Kit struct {
	cfg  Config
	bin  string // programs, built for this run
	work string // outputs and spills, removed at the end
	hdfs string // URI of the HDFS that a contest has started

	daemons *daemons // of the cluster that a contest has started, nil for none
}

// source is the source of some programs.
type source struct {
	Dir      string // root of a Go module
	Packages []string
}

// newKit builds the programs. The caller closes the kit. Programs are built from the present
// tree, so results include uncommitted changes.
func newKit(ctx context.Context, cfg Config, sources []source) (*Kit, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory for generated input: %w", err)
	}
	work, err := os.MkdirTemp(cfg.Dir, "work-")
	if err != nil {
		return nil, fmt.Errorf("directory for output: %w", err)
	}
	k := &Kit{cfg: cfg, work: work, bin: filepath.Join(work, "bin")}
	if err := k.build(ctx, sources); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *Kit) close() error { return os.RemoveAll(k.work) }

// build compiles programs without cgo and without a workspace file, so that all machines
// build the same programs.
func (k *Kit) build(ctx context.Context, sources []source) error {
	for _, s := range sources {
		err := run(ctx, Command{
			Args: append([]string{"go", "build", "-C", s.Dir, "-o", k.bin + string(filepath.Separator)}, s.Packages...),
			Env:  []string{"CGO_ENABLED=0", "GOWORK=off"},
		})
		if err != nil {
			return fmt.Errorf("programs of %s: %w", s.Dir, err)
		}
	}
	return nil
}

// Program returns the path of a program that build has built.
func (k *Kit) Program(name string) string { return filepath.Join(k.bin, name) }

// Ours returns the command that runs one of our programs with two reduces. It spills into
// the kit's directory, as the rivals do.
func (k *Kit) Ours(program []string, args ...string) Command {
	local := filepath.Join(k.work, "local")
	generic := []string{"-D", "mapreduce.cluster.local.dir=" + local, "-D", "mapreduce.job.reduces=2", "--quiet"}
	return Command{Args: slices.Concat([]string{k.Program(program[0])}, program[1:], generic, args)}
}

// Command is a process to run; Stdin and Stdout name files or are "". Its standard error is
// kept for error messages.
type Command struct {
	Args          []string
	Env           []string // added to the environment of this process
	Stdin, Stdout string
}

// Sample is the cost of one run of a process.
type Sample struct {
	Seconds     float64 `json:"seconds"` // start to exit
	CPUSeconds  float64 `json:"cpuSeconds"`
	MaxRSSBytes int64   `json:"maxRSSBytes"` // of the largest process
	// TreeRSSBytes is the peak of the sum over all processes of the command. It is sampled, and
	// 0 for commands that end before the first sample.
	TreeRSSBytes int64 `json:"treeRSSBytes,omitempty"`
	// Cluster is the cost of daemons, for contests that have started some.
	Cluster *Usage `json:"cluster,omitempty"`
}

// run runs a command to its end. The error quotes its standard error. It is interrupted
// when ctx ends, and killed 10 s later.
func run(ctx context.Context, c Command) error {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if c.Stdin != "" {
		in, err := os.Open(c.Stdin)
		if err != nil {
			return fmt.Errorf("standard input of %s: %w", c.Args[0], err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	if c.Stdout != "" {
		out, err := os.Create(c.Stdout)
		if err != nil {
			return fmt.Errorf("standard output of %s: %w", c.Args[0], err)
		}
		defer out.Close() // its process has written it
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, stderr.Bytes())
	}
	return nil
}

// measure runs a command below the program timed. On exec the kernel counts the peak memory
// of the forking process as the child's, and this process may be large after it has compared
// outputs. The program timed measures from just before the start to the exit of the command.
func (k *Kit) measure(ctx context.Context, c Command) (Sample, error) {
	name := filepath.Join(k.work, "sample")
	c.Args = append([]string{k.Program("timed"), name}, c.Args...)
	if err := run(ctx, c); err != nil {
		return Sample{}, err
	}
	var s Sample
	if err := jsonfile.Read(name, &s); err != nil {
		return Sample{}, fmt.Errorf("sample of %s: %w", c.Args[2], err)
	}
	return s, nil
}
