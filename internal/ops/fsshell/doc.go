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
//
// A command is a line of the table in commands.go: name, options, synopsis, help, and a
// function. The function gets the parsed command line. Most work on one existing path at a
// time and are made by overPaths; -mkdir, -touchz and the destinations of copies may not
// exist, so these expand their arguments themselves.
//
//	args ─► parse ─► expandAll ─► items ─► each ─► the command's function, once an item
//	         │           │                  │
//	         ▼           ▼                  ▼
//	     errUsage     report             report
//
// An item is a path with its file system and its status at that moment; a nil status is a
// path that does not exist. Errors become Hadoop's words in toPathError, in one place, so
// that a command returns what its file system has returned.
//
// What differs from Hadoop's shell:
//
//   - A copy through this process keeps neither owner nor times, and has no -p.
//   - -cat and -get accept -ignoreCrc, and -rm accepts -skipTrash, without effect.
//   - -text shows no Avro files, and only Hadoop's own Writables of SequenceFiles.
//   - -blocks is an addition: where the blocks of a file are.
//
// hadoop_test.go runs the same commands in Hadoop's shell and here, and compares output and
// exit codes.
package fsshell
