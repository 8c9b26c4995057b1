package plot

import (
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
	title      string // above all panels
	columns    int
	charts     []*chart
	legendKind legendKind
}

// singlePanel returns a figure with one panel.
func singlePanel(kind legendKind, c *chart) *Figure {
	return &Figure{columns: 1, charts: []*chart{c}, legendKind: kind}
}

// Grid arranges figures in rows, under a common title and with one legend. They should be
// of one kind. Its legend has the symbols of the first figure.
func Grid(title string, columns int, figures ...*Figure) *Figure {
	g := &Figure{title: title, columns: max(min(columns, len(figures)), 1)}
	for i, f := range figures {
		g.charts = append(g.charts, f.charts...)
		if i == 0 {
			g.legendKind = f.legendKind
		}
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
	if _, err := w.Write(f.drawing().finish()); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// Save writes name.svg into a directory that exists.
func (f *Figure) Save(dir, name string) error {
	file := filepath.Join(dir, name+".svg")
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	err = f.SVG(out)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("picture %s: %w", file, err)
	}
	return nil
}
