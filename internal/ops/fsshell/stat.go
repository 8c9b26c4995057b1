package fsshell

import (
	"fmt"
	"strings"
)

// stat prints each path in a format. The first argument is the format if it has a percent
// sign; then at least one path must follow.
func stat(s *shell, in invocation) error {
	format := "%y"
	if strings.Contains(in.args[0], "%") {
		format, in.args = in.args[0], in.args[1:]
	}
	// The only argument was a format.
	if len(in.args) == 0 {
		return usagef("Not enough arguments: expected 1 but got 0")
	}
	s.each(s.expandAll(in.args), func(it item) error {
		s.printf("%s\n", formatStat(format, it))
		return nil
	})
	return nil
}

// formatStat fills in a format. An unknown letter stands for itself, and a percent sign at the
// end is dropped, as in Hadoop.
func formatStat(format string, it item) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		// The letter after the percent sign.
		if i++; i < len(format) {
			out.WriteString(statField(format[i], it))
		}
	}
	return out.String()
}

// statField returns the value that a letter of the format stands for.
func statField(letter byte, it item) string {
	info := it.info
	switch letter {
	// Permissions.
	case 'a':
		return fmt.Sprintf("%o", info.Mode.Perm())
	case 'A':
		return permissions(info.Mode)
	case 'b':
		return fmt.Sprint(info.Size)
	case 'F':
		if info.IsDir {
			return "directory"
		}
		return "regular file"
	case 'g':
		return info.Group
	case 'n':
		return it.base()
	// HDFS stores block size, replication and owner; a local file system substitutes values.
	case 'o':
		return fmt.Sprint(info.BlockSize)
	case 'r':
		return fmt.Sprint(info.Replication)
	case 'u':
		return info.Owner
	// Times, in UTC and in ms.
	case 'y':
		return info.ModTime.UTC().Format("2006-01-02 15:04:05")
	case 'Y':
		return fmt.Sprint(info.ModTime.UnixMilli())
	}
	return string(letter)
}

// test returns its result as the exit code, 0 or 1, and prints only errors. A pattern passes
// if every match does.
func test(s *shell, in invocation) error {
	if len(in.flags) == 0 {
		return usagef("No test flag given")
	}
	if len(in.flags) > 1 {
		return usagef("Only one test flag is allowed")
	}
	// The error is reported too: without an answer of the NameNode the test has no result.
	items, err := s.expand(in.args[0])
	if err != nil {
		s.status = exitFailed
		return err
	}
	for _, it := range items {
		if !it.exists() || !matchesTest(it, in) {
			s.status = exitFailed
		}
	}
	return nil
}

// matchesTest reports whether an existing item passes the test that the option names; -e
// always passes.
func matchesTest(it item, in invocation) bool {
	switch {
	case in.has("d"):
		return it.isDir()
	case in.has("f"):
		return !it.isDir()
	case in.has("s"):
		return it.info.Size > 0
	case in.has("z"):
		return it.info.Size == 0
	}
	return true
}
