package draw

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Figure is a picture, or several side by side, before it is drawn.
//
//	CDF, Lines, Bars, Areas, Gantt ─► Figure ── Grid ─► Figure ── SVG, Save
//
// Nothing is drawn before SVG, because colours depend on the names of all panels.
type Figure struct {
	title   string // above all panels
	columns int
	charts  []*chart
}

// figure returns a figure with one panel.
func (c *chart) figure() *Figure { return &Figure{columns: 1, charts: []*chart{c}} }

// Grid arranges figures in rows, under a common title and with one legend. They should be
// of one kind. Its legend has the symbols of the first figure.
func Grid(title string, columns int, figures ...*Figure) *Figure {
	g := &Figure{title: title, columns: max(min(columns, len(figures)), 1)}
	for _, f := range figures {
		g.charts = append(g.charts, f.charts...)
	}
	return g
}

// names lists the names of all panels without repetition, Others last. The order decides
// colours, so names keep the order of the panels.
func (f *Figure) names() (names []string) {
	for _, c := range f.charts {
		for _, name := range c.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if i := slices.Index(names, Others); i >= 0 {
		names = append(slices.Delete(names, i, i+1), Others)
	}
	return names
}

// SVG writes the figure as SVG. It writes nothing if the data of a panel is invalid.
func (f *Figure) SVG(w io.Writer) error {
	for _, c := range f.charts {
		if c.err != nil {
			return c.err
		}
	}
	_, err := f.drawing().WriteTo(w)
	return err
}

// Save writes name.svg into a directory that exists.
func (f *Figure) Save(dir, name string) error {
	var made bytes.Buffer
	if err := f.SVG(&made); err != nil {
		return fmt.Errorf("picture %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), made.Bytes(), 0o666); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}
