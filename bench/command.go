package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

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
	files, err := c.redirect(cmd)
	if err != nil {
		return err
	}
	defer closeAll(files)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, stderr.Bytes())
	}
	return nil
}

// redirect opens the files of the standard streams. The caller closes them after the run.
func (c Command) redirect(cmd *exec.Cmd) (files []*os.File, err error) {
	if c.Stdin != "" {
		f, err := os.Open(c.Stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input of %s: %w", c.Args[0], err)
		}
		files = append(files, f)
		cmd.Stdin = f
	}
	if c.Stdout != "" {
		f, err := os.Create(c.Stdout)
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("standard output of %s: %w", c.Args[0], err)
		}
		files = append(files, f)
		cmd.Stdout = f
	}
	return files, nil
}

// closeAll ignores errors: the files were read, or their process has written them.
func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// measure runs a command below the program timed. On exec the kernel counts the peak memory
// of the forking process as the child's, and this process may be large after it has compared
// outputs. The program timed measures from just before the start to the exit of the command.
func (k *Kit) measure(ctx context.Context, c Command) (Sample, error) {
	name := filepath.Join(k.work, "sample")
	c.Args = append([]string{k.program("timed"), name}, c.Args...)
	if err := run(ctx, c); err != nil {
		return Sample{}, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return Sample{}, fmt.Errorf("sample of %s: %w", c.Args[2], err)
	}
	var s Sample
	if err := json.Unmarshal(data, &s); err != nil {
		return Sample{}, fmt.Errorf("sample of %s: %w", c.Args[2], err)
	}
	return s, nil
}

// Timed does the work of the program timed. It runs a command with the standard streams of
// this process, writes the command's Sample to a file, and returns the exit code. It
// forwards signals to the command.
//
// Timed runs in a small process of its own, because a child's peak memory includes the
// parent's memory at the fork.
func Timed(name string, args []string, signals <-chan os.Signal) (exitCode int, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // fails if the process has already ended
		}
	}()
	err = cmd.Wait()
	elapsed := time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	state := cmd.ProcessState
	data, err := json.Marshal(Sample{
		Seconds:     elapsed.Seconds(),
		CPUSeconds:  (state.UserTime() + state.SystemTime()).Seconds(),
		MaxRSSBytes: state.SysUsage().(*syscall.Rusage).Maxrss << 10, // SysUsage always returns a Rusage on Unix
	})
	if err != nil {
		return 0, err
	}
	return state.ExitCode(), os.WriteFile(name, data, 0o644)
}
