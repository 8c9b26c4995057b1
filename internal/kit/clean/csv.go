package clean

import "strings"

// Cell returns text for a cell of a CSV file. encoding/csv quotes the cell; Cell prevents that a
// spreadsheet takes the text as a formula: if it begins with = + - @, a tab or a new line, also in
// their full width, an apostrophe comes before it. Numbers of ours do not need Cell.
func Cell(text string) string {
	if first := strings.IndexAny(text, "=+-@\t\r\n＝＋－＠"); first == 0 {
		return "'" + text
	}
	return text
}
