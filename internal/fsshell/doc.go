// Package fsshell is `hammr fs`: Hadoop's file system shell over storage, with
// Hadoop's words, output and exit codes.
//
//	code := fsshell.Run(ctx, env, []string{"-ls", "-R", "/user/a"})
//
// Run parses one command with its options, expands globs, and works through
// the paths in order. A path that fails is reported as
//
//	ls: `x': No such file or directory
//
// and the rest goes on. The exit code is 0, 1 after a report, 255 for a command
// line that is not understood, and 130 when the context was cancelled.
//
// Paths are shown as they were typed: relative ones stay relative. What is
// listed comes in order of names. There is no trash: -rm deletes.
package fsshell
