package fsshell

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// usagePrefix begins the usage of every command; Hadoop's has its own program's name there.
const usagePrefix = "Usage: hammr fs [generic options]"

// command is one of the shell's verbs. Options precede arguments, as in Hadoop's parser: a
// word after the first argument is an argument.
type command struct {
	// Without its dash.
	name  string
	flags string // the options it takes, separated by spaces
	usage string // its options and arguments
	// Lines of text for -help, without the synopsis.
	help string
	// min and max bound the number of arguments; max 0 means no bound.
	min, max int
	// run does the work. It reports paths that fail with shell.report, and returns an error
	// only if it cannot begin, or for a wrong command line.
	run func(*shell, invocation) error
}

// invocation is a parsed command line: the options that were given, without dashes, and the
// arguments as they were typed.
type invocation struct {
	flags map[string]bool
	args  []string
}

// has reports whether an option was given; names have no dash.
func (in invocation) has(flag string) bool { return in.flags[flag] }

// lookup finds a command by its name, which begins with a dash. Names are case-sensitive, as
// in Hadoop: copyFromLocal.
func lookup(name string) (*command, bool) {
	short, ok := strings.CutPrefix(name, "-")
	if !ok {
		return nil, false
	}
	i := slices.IndexFunc(commands, func(c *command) bool { return c.name == short })
	if i < 0 {
		return nil, false
	}
	return commands[i], true
}

// parse reads options up to the first argument or "--". A single dash is an argument: standard
// input. An option that the command does not have, and a wrong number of arguments, are errors
// of usage.
func (c *command) parse(args []string) (invocation, error) {
	in := invocation{flags: map[string]bool{}}
	known := strings.Fields(c.flags)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		flag := args[0][1:]
		args = args[1:]
		// "--" ends the options: a name may begin with a dash.
		if flag == "-" {
			break
		}
		// Hadoop's own words: scripts search for them.
		if !slices.Contains(known, flag) {
			return in, usagef("Illegal option -%s", flag)
		}
		in.flags[flag] = true
	}
	in.args = args
	switch {
	case len(args) < c.min:
		return in, usagef("Not enough arguments: expected %d but got %d", c.min, len(args))
	case c.max > 0 && len(args) > c.max:
		return in, usagef("Too many arguments: expected %d but got %d", c.max, len(args))
	}
	return in, nil
}

// printUsages lists the synopses of all commands, as `hadoop fs` alone does.
func printUsages(w io.Writer) {
	fmt.Fprintln(w, usagePrefix)
	for _, c := range commands {
		fmt.Fprintf(w, "\t[%s]\n", c.line())
	}
}

// line returns the synopsis of a command, as "-rmdir [--ignore-fail-on-non-empty] <dir> ...".
func (c *command) line() string { return strings.TrimSpace("-" + c.name + " " + c.usage) }

// printHelp prints the synopsis and the indented help.
func (c *command) printHelp(w io.Writer) {
	fmt.Fprintf(w, "%s :\n", c.line())
	for line := range strings.Lines(c.help) {
		fmt.Fprintf(w, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// helpCommand makes -usage and -help, for the named commands or for all. Names may be given
// with their dash or without.
func helpCommand(show func(io.Writer, *command)) func(*shell, invocation) error {
	return func(s *shell, in invocation) error {
		if len(in.args) == 0 {
			printUsages(s.out)
		}
		for _, name := range in.args {
			// -help ls and -help -ls are the same.
			c, ok := lookup("-" + strings.TrimPrefix(name, "-"))
			if !ok {
				return usagef("`%s': Unknown command", name)
			}
			show(s.out, c)
		}
		return nil
	}
}
