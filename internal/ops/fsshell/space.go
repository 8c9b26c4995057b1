package fsshell

import (
	"fmt"
	"strings"

	"github.com/hammr/hammr/storage"
)

// summary counts what is below a path, the path included. A file system without replication
// has one replica of each file.
type summary struct {
	dirs, files int64
	bytes       int64
	diskBytes   int64 // with all replicas
}

// sum walks the tree at a path. It fails if any part fails: a sum without that part would be
// wrong.
func (s *shell) sum(it item) (summary, error) {
	var total summary
	for info, err := range storage.Walk(s.ctx, it.fs, it.path) {
		if err != nil {
			return total, err
		}
		if info.IsDir {
			total.dirs++
			continue
		}
		total.files++
		total.bytes += info.Size
		// The space of the file on all DataNodes together.
		total.diskBytes += info.Size * int64(max(info.Replication, 1))
	}
	return total, nil
}

// table is rows of columns, each as wide as its widest entry, with two spaces between them.
type table [][]string

// print aligns all columns but the last, whose entries, names, may have any width.
func (t table) print(s *shell) {
	var widths []int
	for _, row := range t {
		for i, entry := range row {
			// The first row decides how many columns there are; headers have as many.
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(entry))
		}
	}
	for _, row := range t {
		var line strings.Builder
		for i, entry := range row[:len(row)-1] {
			fmt.Fprintf(&line, "%-*s  ", widths[i], entry)
		}
		s.printf("%s%s\n", line.String(), row[len(row)-1])
	}
}

// du prints for each path the bytes of its files, with and without replicas. For a directory
// it prints each entry, or with -s only the total. -x is accepted: there are no snapshots to
// leave out.
func du(s *shell, in invocation) error {
	if len(in.args) == 0 {
		in.args = []string{"."}
	}
	// Rows are printed at the end, when the widths of columns are known.
	rows := table{}
	add := func(it item) error {
		total, err := s.sum(it)
		rows = append(rows, []string{
			size(total.bytes, in.has("h")), size(total.diskBytes, in.has("h")), it.name,
		})
		return err
	}
	s.each(s.expandAll(in.args), func(it item) error {
		// A file is its own total.
		if in.has("s") || !it.isDir() {
			return add(it)
		}
		// A line for each entry, and none for the directory itself.
		children, err := s.children(it)
		s.each(children, add)
		return err
	})
	if len(rows) == 0 {
		return nil
	}
	if in.has("v") {
		header := []string{"SIZE", "DISK_SPACE_CONSUMED_WITH_ALL_REPLICAS", "FULL_PATH_NAME"}
		rows = append(table{header}, rows...)
	}
	rows.print(s)
	return nil
}

// count prints directories, files and bytes, in the columns of Hadoop. Quotas, which -q would
// show, are not read.
func count(s *shell, in invocation) error {
	// Hadoop's widths: scripts cut columns by them.
	const line = "%12v %12v %18v %s\n"
	if in.has("v") {
		s.printf(line, "DIR_COUNT", "FILE_COUNT", "CONTENT_SIZE", "PATHNAME")
	}
	s.each(s.expandAll(in.args), func(it item) error {
		total, err := s.sum(it)
		if err != nil {
			return err
		}
		s.printf(line, total.dirs, total.files, size(total.bytes, in.has("h")), it.name)
		return nil
	})
	return nil
}
