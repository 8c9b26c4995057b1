package docs

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/kit/clean"
)

// Page is a part of a sorted list.
type Page struct {
	Sort   string `param:"sort" doc:"column, with - in front to begin with the highest"` // "" for the default
	Limit  int    `param:"limit" default:"50" max:"1000" doc:"rows of a page"`           // 0 for DefaultLimit
	Cursor string `param:"cursor" doc:"next of the page before"`                         // "" for the first page
}

// DefaultLimit and MaxLimit bound the rows of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// Column is a column of a table: its name in URLs, its heading, and its values. A column has
// numbers or texts.
type Column[T any] struct {
	Name    string
	Heading string
	Number  func(T) float64
	Text    func(T) string
	Right   bool // its cells are on the right of the column
}

// cell returns the value of a row as text, for CSV.
func (c Column[T]) cell(row T) string {
	if c.Number != nil {
		return strconv.FormatFloat(c.Number(row), 'f', -1, 64)
	}
	return c.Text(row)
}

// value returns the value of a row.
func (c *Column[T]) value(row T) value {
	if c.Number != nil {
		return value{Number: c.Number(row)}
	}
	return value{Text: c.Text(row)}
}

// compare orders two values of a column.
func (v value) compare(w value) int {
	if d := cmp.Compare(v.Number, w.Number); d != 0 {
		return d
	}
	return strings.Compare(v.Text, w.Text)
}

// cellsOf returns a table with a line of headings. Texts are safe in a spreadsheet.
func cellsOf[T any](rows []T, columns []Column[T]) [][]string {
	table := [][]string{{}}
	for _, column := range columns {
		table[0] = append(table[0], column.Name)
	}
	for _, row := range rows {
		var cells []string
		for _, column := range columns {
			cell := column.cell(row)
			if column.Text != nil {
				cell = clean.Cell(cell)
			}
			cells = append(cells, cell)
		}
		table = append(table, cells)
	}
	return table
}

// cursor is the last row of a page. A row that is added to the list later does not move the rows
// after it.
type cursor struct {
	List  string `json:"l"` // which list: cluster or job
	Sort  string `json:"s"`
	Value value  `json:"v"` // of the column
	ID    value  `json:"i"` // of the column that identifies rows
}

// value is a number or a text of a column.
type value struct {
	Number float64 `json:"n,omitempty"`
	Text   string  `json:"t,omitempty"`
}

func (c cursor) String() string {
	text, _ := json.Marshal(c) // it has only texts and finite numbers
	return base64.RawURLEncoding.EncodeToString(text)
}

// PageOf returns one page of the rows that keep accepts, in the order of p, or byDefault if p names
// none. total is how many rows keep accepts, and next the cursor of the next page. list names the
// list, so that the cursor of another list is refused. PageOf does not change rows.
//
// It does not sort all rows, since there can be very many: a buffer has the first rows of the page so
// far, and is sorted and cut when it is full. Rows after those are then skipped.
func PageOf[T any](rows []T, keep func(*T) bool, columns []Column[T], p Page, byDefault, list string) (page []T, total int, next string, err error) {
	sort := cmp.Or(p.Sort, byDefault)
	name, descending := strings.CutPrefix(sort, "-")
	i := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == name })
	if i < 0 {
		return nil, 0, "", fmt.Errorf("no column %q", name)
	}
	column, id := columns[i], columns[0]
	var c cursor
	if p.Cursor != "" {
		if c, err = parseCursor(p.Cursor, list, sort); err != nil {
			return nil, 0, "", err
		}
	}
	after := func(row T, v value) int { // the order of the column alone
		d := column.value(row).compare(v)
		if descending {
			d = -d
		}
		return d
	}
	order := func(a, b T) int {
		if d := after(a, column.value(b)); d != 0 {
			return d
		}
		return id.value(a).compare(id.value(b))
	}
	afterCursor := func(row T) bool {
		d := after(row, c.Value)
		return d > 0 || d == 0 && id.value(row).compare(c.ID) > 0
	}
	limit := min(cmp.Or(p.Limit, DefaultLimit), MaxLimit)
	buffer, cut := make([]T, 0, min(2*limit, len(rows))+2), false // after a cut, buffer[limit] is the last row that matters
	for i := range rows {
		if !keep(&rows[i]) {
			continue
		}
		total++
		if p.Cursor != "" && !afterCursor(rows[i]) || cut && order(rows[i], buffer[limit]) > 0 {
			continue
		}
		if buffer = append(buffer, rows[i]); len(buffer) == cap(buffer) {
			slices.SortFunc(buffer, order)
			buffer, cut = buffer[:limit+1], true
		}
	}
	slices.SortFunc(buffer, order)
	if len(buffer) <= limit {
		return buffer, total, "", nil
	}
	last := buffer[limit-1]
	c = cursor{List: list, Sort: sort, Value: column.value(last), ID: id.value(last)}
	return buffer[:limit], total, c.String(), nil
}

// parseCursor refuses cursors of other lists and of other orders.
func parseCursor(text, list, sort string) (c cursor, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &c) != nil || c.List != list || c.Sort != sort {
		return c, fmt.Errorf("cursor: %w", ErrCursor)
	}
	return c, nil
}
