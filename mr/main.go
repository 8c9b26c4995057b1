package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes: those of Hadoop's client, and 130 for Ctrl-C as in a shell.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// Main runs a job or program for the life of the process, and exits:
//
//	func main() { mr.Main(wordcount) }
//
// The command line is Hadoop's: generic options (-D, -conf, -fs, -files), then the program's
// own arguments. "-h" shows them all.
//
// On a cluster the same binary runs the job's tasks. See ServeTask.
func Main(r Runnable) {
	os.Exit(Exec(r, os.Args[1:]))
}

// Exec runs a job or program with the standard streams and signals of the process, and
// returns the exit code. In a process that is a task it does not return. See ServeTask.
func Exec(r Runnable, args []string) int {
	ServeTask(r)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	return Run(ctx, r, args, os.Stdout, os.Stderr)
}

// Run runs a job or program with args and returns the exit code. If ctx ends, that counts as
// Ctrl-C.
func Run(ctx context.Context, r Runnable, args []string, stdout, stderr io.Writer) int {
	p := r.program()
	opts, err := parseArgs(args, p.Options)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		printUsage(stderr, p)
		return ExitUsage
	case opts.help:
		printHelp(stdout, p)
		return ExitDone
	}
	err = runProgram(ctx, p, opts, stdout, stderr)
	return exitCode(ctx, p, err, stderr)
}

func exitCode(ctx context.Context, p *Program, err error, stderr io.Writer) int {
	var job *JobError
	switch {
	case ctx.Err() != nil:
		return ExitInterrupted
	case err == nil, errors.Is(err, errDetached), errors.Is(err, errShown):
		return ExitDone
	case errors.Is(err, ErrUsage):
		if err != ErrUsage {
			fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		}
		printUsage(stderr, p)
		return ExitUsage
	case errors.As(err, &job):
		return ExitFailed // the console has shown the cause
	}
	fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
	return ExitFailed
}

func printUsage(w io.Writer, p *Program) {
	fmt.Fprintf(w, "Usage: %s %s\n", p.Name, p.usage())
}

func printHelp(w io.Writer, p *Program) {
	printUsage(w, p)
	if p.Summary != "" {
		fmt.Fprintf(w, "\n%s\n", p.Summary)
	}
	fmt.Fprint(w, genericHelp)
}

const genericHelp = `
Generic options, before the program's own arguments:
  -D property=value   set a property (may be repeated)
  -conf FILE          read properties from a Hadoop XML file
  -fs URI             default file system, as hdfs://host:port or file:///
  -files F[,F...]     side files that tasks can open by their last name, or by NAME in F#NAME

Options anywhere before "--":
  --report FILE       write a JSON report of the job
  --quiet             print errors only
  --workers N         run N map and N reduce tasks at once (default: as many as cores)
  --master A[,B...]   run on the cluster of these masters (default: HAMMR_MASTER, else in this process: "local")
  --token-file FILE   the cluster's token (default: HAMMR_TOKEN_FILE, else your own copy)
  --pool NAME         put the job into this pool, or queue, of the cluster
  --detach            print the job's id once the cluster has it, and end
  --dag[=dot]         run nothing, but show the graph of each job; with arguments, of the first job on them
  -h, --help          show this text
`
