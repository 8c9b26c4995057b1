// Package fsshell is `hammr fs`: Hadoop's file system shell over storage, with Hadoop's
// words, output and exit codes.
//
//	code := fsshell.Run(ctx, env, []string{"-ls", "-R", "/user/a"})
//
// Run parses one command with its options, expands globs, and processes the paths in order.
// It reports a path that fails as
//
//	ls: `x': No such file or directory
//
// and continues with the next. The exit code is 0, 1 after a report, 255 for a wrong command
// line, and 130 if the context was cancelled.
//
// Paths are printed as they were typed: relative ones stay relative. Listings are sorted by
// name. There is no trash: -rm deletes.
package fsshell
