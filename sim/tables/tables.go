// Package tables writes the results of simulations and experiments: a Table has columns and rows, and is
// written as CSV for programs, as Markdown for documents, or as aligned text for terminals.
//
//	t := tables.New("policy", "jobs|%d", "mean|%.1f s")
//	t.Add("fifo", 2, 2.25)
//	err := t.Text(os.Stdout)
//
//	policy  jobs  mean
//	fifo    2     2.2 s
//
// A column is its name, and behind a bar the format of its values. Columns with a format are aligned to the
// right. A value that is a string is printed as it is, so a cell may have a word instead of a number.
package tables

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
)

// Table is rows of text below a heading. A Table is used by one goroutine.
type Table struct {
	names, formats []string // of the columns; the format "" is none
	rows           [][]string
}

// Results is what an experiment leaves: a line for each sample, and what people read.
type Results struct{ Samples, Summary *Table }

// New returns a table without rows. A column is "name" or "name|format".
func New(columns ...string) *Table {
	t := new(Table)
	for _, column := range columns {
		name, format, _ := strings.Cut(column, "|")
		t.names, t.formats = append(t.names, name), append(t.formats, format)
	}
	return t
}

// Add adds a row with a value for each column.
func (t *Table) Add(values ...any) {
	if len(values) != len(t.names) {
		panic(fmt.Sprintf("tables: %d values for the %d columns %s", len(values), len(t.names), strings.Join(t.names, ", ")))
	}
	row := make([]string, len(values))
	for i, value := range values {
		text, isText := value.(string)
		switch {
		case isText:
			row[i] = text
		case t.formats[i] == "":
			row[i] = fmt.Sprint(value)
		default:
			row[i] = fmt.Sprintf(t.formats[i], value)
		}
	}
	t.rows = append(t.rows, row)
}

// CSV writes the heading and the rows.
func (t *Table) CSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.names}, t.rows...))
}

// Markdown writes the table with a rule below its heading.
func (t *Table) Markdown(w io.Writer) error {
	heading, rule := "|", "|"
	for i, name := range t.names {
		heading += strings.TrimRight(" "+name, " ") + " |"
		if t.formats[i] == "" {
			rule += "---|"
		} else {
			rule += "--:|"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", heading, rule)
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes aligned columns for a terminal. All columns are aligned as the first one.
func (t *Table) Text(w io.Writer) error {
	flags, end := uint(0), ""
	if t.formats[0] != "" {
		flags, end = tabwriter.AlignRight, "\t"
	}
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	for _, line := range append([][]string{t.names}, t.rows...) {
		fmt.Fprintln(aligned, strings.Join(line, "\t")+end)
	}
	return aligned.Flush()
}

// Groups yields the values of each key, in the order in which the keys appear.
func Groups[K comparable, V any](all []V, key func(V) K) iter.Seq2[K, []V] {
	return func(yield func(K, []V) bool) {
		var order []K
		of := make(map[K][]V)
		for _, value := range all {
			k := key(value)
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], value)
		}
		for _, k := range order {
			if !yield(k, of[k]) {
				return
			}
		}
	}
}
