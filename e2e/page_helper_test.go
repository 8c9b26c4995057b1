package e2e

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/hammr/hammr/internal/testing/must"
)

// cell is what a user reads in a cell of a table, or in a fact of a page.
type cell struct {
	text  string
	links []string // targets, in order
	time  string   // of its first time element, RFC 3339
}

// last returns the last word of the text.
func (c cell) last() string { return c.text[strings.LastIndexByte(c.text, ' ')+1:] }

// table is a table of a page.
type table struct {
	head []string
	rows [][]cell
}

// shown is what a page shows.
type shown struct {
	tables   []table
	facts    map[string]cell // lists of terms and values, by term
	sections map[string]cell // by id
	picture  []string        // texts of the picture's elements, with their class in front
}

// parsePage parses a page.
func parsePage(t *testing.T, text string) *shown {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	must.Do(t, err)
	s := &shown{facts: make(map[string]cell), sections: make(map[string]cell)}
	term := ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "table":
			s.tables = append(s.tables, tableOf(n))
		case "dt":
			term = cellOf(n).text
		case "dd":
			s.facts[term] = cellOf(n)
		case "section":
			s.sections[attribute(n, "id")] = cellOf(n)
		case "path":
			s.picture = append(s.picture, attribute(n, "class")+" "+attribute(n, "d"))
		}
	}
	return s
}

// with returns the first table that has a column.
func (s *shown) with(t *testing.T, column string) table {
	t.Helper()
	for _, each := range s.tables {
		for _, name := range each.head {
			if name == column {
				return each
			}
		}
	}
	t.Fatalf("no table has a column %q: %+v", column, s.tables)
	return table{}
}

// row returns the cells of a row by the names of their columns. Signs of sorting are not in the names.
func (t table) row(i int) map[string]cell {
	cells := make(map[string]cell)
	for k, c := range t.rows[i] {
		if k < len(t.head) {
			cells[strings.TrimRight(t.head[k], " ▲▼")] = c
		}
	}
	return cells
}

func tableOf(n *html.Node) (t table) {
	for row := range n.Descendants() {
		if row.Data != "tr" {
			continue
		}
		var cells []cell
		heads := 0
		for c := range row.ChildNodes() {
			if c.Data == "td" || c.Data == "th" {
				cells = append(cells, cellOf(c))
			}
			if c.Data == "th" {
				heads++
			}
		}
		if heads > 1 && t.head == nil {
			for _, c := range cells {
				t.head = append(t.head, c.text)
			}
		} else {
			t.rows = append(t.rows, cells)
		}
	}
	return t
}

// cellOf returns the text below a node, without the thin spaces between digits and the titles in pictures.
func cellOf(n *html.Node) (c cell) {
	var text strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && d.Parent.Data != "title":
			text.WriteString(d.Data)
		case d.Data == "a":
			c.links = append(c.links, attribute(d, "href"))
		case d.Data == "time" && c.time == "":
			c.time = attribute(d, "datetime")
		}
	}
	c.text = strings.Join(strings.Fields(strings.ReplaceAll(text.String(), "\u202f", "")), " ")
	return c
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
