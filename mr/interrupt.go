package mr

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/console"
)

// confirmKill asks a user at a terminal whether to kill a job. A second Ctrl-C means no, and
// so does the lack of a terminal.
func (d *Driver) confirmKill(id string) bool {
	out, ok := d.Stderr.(*os.File)
	if !ok || !console.IsTerminal(out) || !console.IsTerminal(os.Stdin) {
		return false
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	return confirm(out, os.Stdin, again, fmt.Sprintf("\nKill job %s? [y/N] ", id))
}

// confirm asks a question and reports whether the answer begins with y. A signal on again
// means no. The goroutine that waits for the line then remains until the process ends.
func confirm(out io.Writer, in io.Reader, again <-chan os.Signal, question string) bool {
	fmt.Fprint(out, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // an error means no
		answer <- line
	}()
	select {
	case line := <-answer:
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
	case <-again:
		fmt.Fprintln(out)
		return false
	}
}
