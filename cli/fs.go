package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/ops/fsshell"
)

// newFS asks NameNodes and DataNodes, or reads local files. It has Hadoop's exit codes: 0, 1
// for a failure, and 255 for a wrong command line of the shell. -test answers with 0 or 1. A
// wrong generic option gives 2.
func newFS() *cobra.Command {
	return &cobra.Command{
		Use:   "fs [-D property=value] [-conf FILE] [-fs URI] -COMMAND [ARGS...]",
		Short: "Work with files as `hadoop fs` does, local or on HDFS",
		Long: `Work with files as "hadoop fs" does, local or on HDFS. "hammr fs" alone lists
the commands, "hammr fs -help COMMAND" explains one.

Names without a scheme belong to the file system of -fs, else to fs.defaultFS in
the files of HADOOP_CONF_DIR, else to the local one.`,
		Example: `  hammr fs -ls -R hdfs://namenode:8020/user
  hammr fs -D dfs.replication=2 -fs hdfs://namenode:8020 -put data /in`,
		DisableFlagParsing: true, // Hadoop's commands begin with one dash
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
				return cmd.Help()
			}
			return exitWith(shell(ctx, args, os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		}),
	}
}

// shell runs one command of the file system shell: it reads the generic options and the
// configuration, and leaves the rest to internal/ops/fsshell.
func shell(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	generic, rest, err := parseGeneric(args)
	if err != nil {
		fmt.Fprintf(stderr, "fs: %v\n", err)
		return exitUsage
	}
	c, err := generic.load(stderr)
	if err != nil {
		fmt.Fprintf(stderr, "fs: %v\n", err)
		return exitUsage
	}
	router, err := fsconf.NewInteractiveRouter(c, warnLogger(stderr))
	if err != nil {
		fmt.Fprintf(stderr, "fs: %v\n", err)
		return exitFailed
	}
	code := fsshell.Run(ctx, fsshell.Env{
		Router: router, Stdin: stdin, Stdout: stdout, Stderr: stderr, CreateOptions: fsconf.CreateOptions(c),
	}, rest)
	if err := router.Close(); err != nil && code == exitDone {
		fmt.Fprintf(stderr, "fs: %v\n", err)
		return exitFailed
	}
	return code
}

// warnLogger logs warnings, for example that a NameNode does not answer, in the format of the
// daemons. Commands log nothing else.
func warnLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// genericOptions are the generic options of a Hadoop command, which precede its own arguments.
// -fs is short for -D fs.defaultFS.
type genericOptions struct {
	define []string // -D, as property=value
	conf   []string // -conf
}

// parseGeneric takes the generic options from the front of a command line: -D and its value as
// one word or two, -conf, -fs. rest begins with the first argument that is none of them.
func parseGeneric(args []string) (g genericOptions, rest []string, err error) {
	for len(args) > 0 {
		name := args[0]
		switch {
		// -Dname=value in one word.
		case strings.HasPrefix(name, "-D") && len(name) > 2:
			g.define = append(g.define, name[2:])
			args = args[1:]
			continue
		case name != "-D" && name != "-conf" && name != "-fs":
			return g, args, nil
		case len(args) < 2:
			return g, nil, fmt.Errorf("option %s: a value is missing", name)
		}
		switch value := args[1]; name {
		case "-D":
			g.define = append(g.define, value)
		case "-conf":
			g.conf = append(g.conf, value)
		case "-fs":
			g.define = append(g.define, conf.DefaultFS+"="+value)
		}
		args = args[2:]
	}
	return g, nil, nil
}

// load reads the configuration that the options describe, over the files of HADOOP_CONF_DIR,
// and checks it. Warnings, for example about deprecated names, go to w as Hadoop's log lines.
func (g genericOptions) load(w io.Writer) (*conf.Conf, error) {
	c, warnings, err := conf.Load(conf.Sources{Files: g.conf, Define: g.define})
	show := console.New(console.Options{Err: w})
	for _, text := range warnings {
		show.Log(console.Warn, console.ClassDeprecation, text)
	}
	if err != nil {
		return nil, err
	}
	return c, c.Validate()
}
