package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is rows of text below a heading.
type table struct {
	heading []string
	rows    [][]string
}

func (t *table) add(words ...string) { t.rows = append(t.rows, words) }

// write aligns the columns. An empty cell is printed as "-", so that programs can count
// columns.
func (t *table) write(w io.Writer) {
	width := make([]int, len(t.heading))
	all := append([][]string{t.heading}, t.rows...)
	for _, row := range all {
		for i, word := range row {
			width[i] = max(width[i], utf8.RuneCountInString(word), 1)
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, word := range row {
			if word == "" {
				word = "-"
			}
			line.WriteString(word)
			line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(word)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// field writes a line of a description.
func field(w io.Writer, name string, format string, args ...any) {
	value := fmt.Sprintf(format, args...)
	fmt.Fprintln(w, strings.TrimRight(name+": "+value, " "))
}

// oneLine escapes control characters and joins lines: names of jobs are users' text.
func oneLine(s string) string { return strings.Join(strings.Fields(escaped(s)), " ") }
