package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table has rows of text below a heading, for people and for scripts such as awk: cells have
// no line breaks, and no cell is empty.
type table struct {
	heading []string
	rows    [][]string
}

// add adds a row with a cell for each column of the heading.
func (t *table) add(words ...string) { t.rows = append(t.rows, words) }

// write aligns the columns. An empty cell is printed as "-", so that programs can count
// columns.
func (t *table) write(w io.Writer) {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.heading}, t.rows...) {
		cells := make([]string, len(row))
		for i, word := range row {
			cells[i] = cmp.Or(word, "-")
		}
		fmt.Fprintln(aligned, strings.Join(cells, "\t"))
	}
	aligned.Flush() // an error of stdout has no other place to go
}

// field writes a line of a description, as "Job: job_1763700000000_0001". A value that is
// empty leaves no blank at the end of the line.
func field(w io.Writer, name string, format string, args ...any) {
	value := fmt.Sprintf(format, args...)
	fmt.Fprintln(w, strings.TrimRight(name+": "+value, " "))
}

// oneLine escapes control characters and joins lines: names of jobs are users' text.
func oneLine(s string) string { return strings.Join(strings.Fields(escaped(s)), " ") }
