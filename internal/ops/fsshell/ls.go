package fsshell

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// lister is a running -ls. As in Hadoop, its columns get wider from one directory to the
// next, never narrower. So programs that cut output by columns work with both.
type lister struct {
	*shell
	in invocation
	// Widths of columns, in characters.
	repl, size, maxOwner, maxGroup int
}

// ls lists the arguments in order, without one the working directory. The first widths of
// columns are Hadoop's: 3 for replication, 10 for sizes.
func ls(s *shell, in invocation) error {
	if len(in.args) == 0 {
		in.args = []string{"."}
	}
	// One lister for all arguments: columns do not get narrower.
	l := &lister{shell: s, in: in, repl: 3, size: 10}
	s.each(s.expandAll(in.args), l.listArgument)
	return nil
}

// listArgument lists the content of a directory, unless -d is given, and a file as itself.
func (l *lister) listArgument(it item) error {
	if it.isDir() && !l.in.has("d") {
		return l.listDirectory(it)
	}
	l.show([]item{it})
	return nil
}

// listDirectory lists a directory and, with -R, each subdirectory right after its own line.
// "Found n items" is printed as Hadoop does: not with -R, not with -C, not for an empty
// directory.
func (l *lister) listDirectory(dir item) error {
	items, err := l.children(dir)
	if err != nil {
		return err
	}
	recursive := l.in.has("R")
	// One count for each directory that was named.
	if !recursive && len(items) > 0 && !l.in.has("C") {
		l.printf("Found %d items\n", len(items))
	}
	slices.SortStableFunc(items, l.order())
	l.widen(items)
	for _, it := range items {
		l.line(it)
		// A subdirectory follows its own line, before the next entry.
		if !recursive || !it.isDir() {
			continue
		}
		if err := l.listDirectory(it); err != nil {
			l.report(toPathError(it, err))
		}
	}
	return nil
}

// order returns the comparison for -t (newest first), -S (largest first), or names; -r
// reverses it.
func (l *lister) order() func(a, b item) int {
	// The order of bytes, as Hadoop's: capitals first.
	by := func(a, b item) int { return cmp.Compare(a.path, b.path) }
	switch {
	case l.in.has("t"):
		by = func(a, b item) int { return b.info.ModTime.Compare(a.info.ModTime) }
	case l.in.has("S"):
		by = func(a, b item) int { return cmp.Compare(b.info.Size, a.info.Size) }
	}
	if l.in.has("r") {
		return func(a, b item) int { return -by(a, b) }
	}
	return by
}

// show prints items that are not from one directory.
func (l *lister) show(items []item) {
	l.widen(items)
	for _, it := range items {
		l.line(it)
	}
}

// widen makes the columns wide enough for all items, before the first line of them.
func (l *lister) widen(items []item) {
	for _, it := range items {
		l.repl = max(l.repl, len(strconv.Itoa(it.info.Replication)))
		l.size = max(l.size, len(strconv.FormatInt(it.info.Size, 10)))
		l.maxOwner = max(l.maxOwner, len(it.info.Owner))
		l.maxGroup = max(l.maxGroup, len(it.info.Group))
	}
}

// line prints one item:
//
//	-rw-r--r--   3 ann staff       1366 2026-11-21 11:14 /in/a.txt
//
// A directory has "-" in place of a replication. -C prints the name only.
func (l *lister) line(it item) {
	name := it.name
	// Names may have control sequences, which a terminal would obey.
	if l.in.has("q") {
		name = strings.Map(printable, name)
	}
	if l.in.has("C") {
		l.printf("%s\n", name)
		return
	}
	// The first letter is the type: a dash for a file.
	kind, repl := "-", strconv.Itoa(copies(it))
	if it.isDir() {
		// Directories have no blocks.
		kind, repl = "d", "-"
	}
	l.printf("%s%s %*s %s%s%*s %s %s\n", kind, permissions(it.info.Mode), l.repl, repl,
		column(it.info.Owner, l.maxOwner), column(it.info.Group, l.maxGroup),
		l.size, size(it.info.Size, l.in.has("h")),
		it.info.ModTime.In(l.Zone).Format("2006-01-02 15:04"), name)
}

// column returns a text padded to a width, and a space. A column of width 0 is left out: file
// systems without owners have none.
func column(text string, width int) string {
	if width == 0 {
		return ""
	}
	return fmt.Sprintf("%-*s ", width, text)
}

// printable replaces a character that a terminal could take as a command.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// permissions returns the nine bits as letters. The sticky bit replaces the last letter: t if
// others may enter the directory, else T.
func permissions(mode fs.FileMode) string {
	letters := mode.Perm().String()[1:]
	// The sticky bit is set on a shared directory such as /tmp.
	if mode&fs.ModeSticky == 0 {
		return letters
	}
	if strings.HasSuffix(letters, "x") {
		return letters[:8] + "t"
	}
	return letters[:8] + "T"
}

// copies returns the number of replicas of a file's blocks; 0 for directories, and 1 where the file
// system has no replication.
func copies(it item) int {
	if it.isDir() {
		return 0
	}
	return max(it.info.Replication, 1)
}

// size formats a number of bytes. If human is set, it uses units of 1024 with at most one
// decimal, as Hadoop does: "1.5 K", and "1 K" for exact multiples.
func size(n int64, human bool) string {
	if !human || n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	const units = "KMGTPE"
	unit, shift := 0, 10
	for n>>shift >= 1024 {
		unit++
		shift += 10
	}
	// A multiple of the unit has no decimal.
	if n&(1<<shift-1) == 0 {
		return fmt.Sprintf("%d %c", n>>shift, units[unit])
	}
	// 1023.95 K rounds to 1024.0 K: it is shown in the next unit.
	tenths := roundedTenths(n, shift)
	if tenths >= 10240 && unit+1 < len(units) {
		unit++
		tenths = roundedTenths(n, shift+10)
	}
	return fmt.Sprintf("%d.%d %c", tenths/10, tenths%10, units[unit])
}

// roundedTenths returns 10n / 2^shift, halves rounded up, in integers, so that large sizes are
// exact.
func roundedTenths(n int64, shift int) int64 {
	whole, rest := n>>shift, n&(1<<shift-1)
	// Exbibytes, which tests have and disks do not.
	for shift > 58 { // so that the factor below cannot overflow
		rest >>= 1
		shift--
	}
	return whole*10 + (rest*10+1<<(shift-1))>>shift
}
