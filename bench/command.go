package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Command is a process to run; Stdin and Stdout name files or are "".
type Command struct {
	Args          []string
	Env           []string // beside the environment of this process
	Stdin, Stdout string
}

// Sample is what one run of a process took.
type Sample struct {
	Seconds     float64 `json:"seconds"` // start to exit
	CPUSeconds  float64 `json:"cpuSeconds"`
	MaxRSSBytes int64   `json:"maxRSSBytes"` // of the largest process
}

// measure runs a command to its end.
func measure(ctx context.Context, c Command) (Sample, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	files, err := c.redirect(cmd)
	if err != nil {
		return Sample{}, err
	}
	defer closeAll(files)

	start := time.Now()
	err = cmd.Run()
	elapsed := time.Since(start)
	if err != nil {
		return Sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, said.Bytes())
	}
	state := cmd.ProcessState
	usage := state.SysUsage().(*syscall.Rusage) // always so on Unix
	return Sample{
		Seconds:     elapsed.Seconds(),
		CPUSeconds:  (state.UserTime() + state.SystemTime()).Seconds(),
		MaxRSSBytes: usage.Maxrss << 10,
	}, nil
}

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

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// run runs a command whose time does not matter.
func run(ctx context.Context, c Command) error {
	_, err := measure(ctx, c)
	return err
}
