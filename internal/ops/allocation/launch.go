package allocation

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// Launcher starts a command on a node. The command has the standard input and output of the
// returned one, and ends when its input ends.
type Launcher interface {
	Command(ctx context.Context, n Node, args []string) *exec.Cmd
}

// endGrace is how long a launched command may take to end after its context has ended.
const endGrace = 20 * time.Second

// Srun starts a command as a step of a job of Slurm: on one node, with all processors and all
// memory that the job has there, beside other steps.
type Srun struct{}

// Command implements Launcher.
func (Srun) Command(ctx context.Context, n Node, args []string) *exec.Cmd {
	return command(ctx, append([]string{
		"srun", "--overlap", "--nodes=1", "--ntasks=1", "--cpus-per-task=" + strconv.Itoa(n.Cores), "--mem=0",
		"--nodelist=" + n.Host, "--unbuffered", "--quiet", "--",
	}, args...))
}

// Shell starts a command by a program like ssh or oarsh: its words are those of the program, in
// which {host} stands for the node, and one word with the command, quoted for a shell.
type Shell []string

// Command implements Launcher.
func (s Shell) Command(ctx context.Context, n Node, args []string) *exec.Cmd {
	var quoted []string
	for _, arg := range args {
		quoted = append(quoted, hostfile.Quote(arg))
	}
	return command(ctx, append(hostfile.ShellWords(s, n.Host), "exec "+strings.Join(quoted, " ")))
}

// ParseShell returns the launcher of a command line such as "ssh -p 2222 {host}".
func ParseShell(text string) (Shell, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("--shell is empty; give a command such as ssh {host}")
	}
	return words, nil
}

// command returns a command that is killed some time after the end of ctx. Its input ends
// first, at which it should exit.
func command(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Cancel = func() error { return nil }
	cmd.WaitDelay = endGrace
	return cmd
}
