package fsshell

import (
	"fmt"
	"io"
)

// commands are all verbs, sorted by name. Init fills the list because -help, one of them,
// reads it.
var commands []*command

// The list is in the order of -help. flags are the options that parse accepts. Options
// without effect are listed too, because scripts pass them. Helps are Hadoop's where Hadoop
// has good texts, and state the differences: there is no trash.
func init() {
	commands = []*command{
		{name: "blocks", usage: "<path> ...", min: 1, run: overPaths(blocks),
			help: "Show offset, length and hosts of each block of the files."},
		{name: "cat", flags: "ignoreCrc", usage: "[-ignoreCrc] <src> ...", min: 1, run: overPaths(cat),
			help: "Fetch all files that match the file pattern <src> and display\ntheir content on stdout."},
		{name: "copyFromLocal", flags: putFlags, usage: putUsage, min: 1, run: put,
			help: "Identical to the -put command."},
		{name: "copyToLocal", flags: getFlags, usage: getUsage, min: 1, run: get,
			help: "Identical to the -get command."},
		{name: "count", flags: "h v", usage: "[-h] [-v] <path> ...", min: 1, run: count,
			help: "Count the number of directories, files and bytes under the paths.\n-h: sizes for people; -v: a header line."},
		{name: "cp", flags: "f d", usage: "[-f] [-d] <src> ... <dst>", min: 2, run: cp,
			help: "Copy files and directories. -f overwrites the destination, -d writes\nit without a temporary file <dst>._COPYING_."},
		{name: "du", flags: "s h v x", usage: "[-s] [-h] [-v] [-x] <path> ...", run: du,
			help: "Show the bytes used by files, and with all their copies.\n-s: one total for each path; -h: sizes for people; -v: a header line."},
		{name: "get", flags: getFlags, usage: getUsage, min: 1, run: get,
			help: "Copy files that match <src> to the local name. -f overwrites it."},
		{name: "head", usage: "<file>", min: 1, max: 1, run: overPaths(head),
			help: "Show the first 1KB of the file."},
		{name: "help", usage: "[cmd ...]", help: "Display help for the given commands, or all.",
			run: helpCommand(func(w io.Writer, c *command) { c.printHelp(w) })},
		{name: "ls", flags: "C d h q R t S r", usage: "[-C] [-d] [-h] [-q] [-R] [-t] [-S] [-r] [<path> ...]", run: ls,
			help: "List the contents that match the specified file pattern.\n" +
				"-C: paths only; -d: directories as plain files; -h: sizes for people;\n" +
				"-q: ? for characters that cannot be printed; -R: recursively;\n" +
				"-t: by modification time, newest first; -S: by size; -r: reversed."},
		{name: "mkdir", flags: "p", usage: "[-p] <path> ...", min: 1, run: mkdir,
			help: "Create directories. -p: no failure if one exists, parents as needed."},
		{name: "mv", usage: "<src> ... <dst>", min: 2, run: mv,
			help: "Move files that match <src> to a destination on the same file system."},
		{name: "put", flags: putFlags, usage: putUsage, min: 1, run: put,
			help: "Copy files from the local file system, or stdin for -, to <dst>.\n-f overwrites it, -d writes it without a temporary file."},
		{name: "rm", flags: "f r R skipTrash safely", usage: "[-f] [-r|-R] [-skipTrash] [-safely] <src> ...", min: 1, run: rm,
			help: "Delete all files that match. There is no trash.\n-f: nothing to delete is no failure; -r, -R: directories too."},
		{name: "rmdir", flags: "-ignore-fail-on-non-empty", usage: "[--ignore-fail-on-non-empty] <dir> ...", min: 1, run: overPaths(rmdir),
			help: "Remove empty directories."},
		{name: "stat", usage: "[format] <path> ...", min: 1, run: stat,
			help: "Print statistics about the path in the format: permissions in octal (%a)\n" +
				"and symbolic (%A), bytes (%b), type (%F), group (%g), name (%n), block\n" +
				"size (%o), replication (%r), user (%u), modification date (%y, %Y).\n" +
				"%y shows UTC, %Y milliseconds since 1970. The default is %y."},
		{name: "tail", usage: "<file>", min: 1, max: 1, run: overPaths(tail),
			help: "Show the last 1KB of the file."},
		{name: "test", flags: "d e f s z", usage: "-[defsz] <path>", min: 1, max: 1, run: test,
			help: "Exit 0 if the path is a directory (-d), exists (-e), is a file (-f),\nis not empty (-s) or has zero length (-z); else 1."},
		{name: "text", flags: "ignoreCrc", usage: "[-ignoreCrc] <src> ...", min: 1, run: overPaths(text),
			help: "Output files as text: compressed files decompressed, SequenceFiles as\nkey, tab, value."},
		{name: "touchz", usage: "<path> ...", min: 1, run: touchz,
			help: "Create files of zero length. One of another length is an error."},
		{name: "usage", usage: "[cmd ...]", help: "Display the usage of the given commands, or all.",
			run: helpCommand(func(w io.Writer, c *command) { fmt.Fprintln(w, usagePrefix, c.line()) })},
	}
}
