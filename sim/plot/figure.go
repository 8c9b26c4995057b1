package plot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture, or several side by side, before it is drawn.
//
//	CDF, Lines, Bars, Areas, Gantt ─► Figure ── Grid ─► Figure ── SVG, PNG, Save
//
// Nothing is drawn before SVG or PNG, because colours depend on the names of all panels.
type Figure struct {
	title      string // above all panels
	columns    int
	panels     []panel
	legendKind legendKind
}

// panel is one picture of a figure. build is called once for each output, so it must not
// keep state.
type panel struct {
	names []string // for the legend, in its order; "" is not shown there
	build func(map[string]lineStyle) (*gplot.Plot, error)
}

// singlePanel returns a figure with one panel. names are the entries of the legend, in the
// order in which they get colours.
func singlePanel(sort legendKind, names []string, build func(map[string]lineStyle) (*gplot.Plot, error)) *Figure {
	return &Figure{columns: 1, panels: []panel{{names: names, build: build}}, legendKind: sort}
}

// Grid arranges figures in rows, under a common title and with one legend. They should be
// of one kind. Its legend has the symbols of the first figure.
func Grid(title string, columns int, figures ...*Figure) *Figure {
	g := &Figure{title: title, columns: max(min(columns, len(figures)), 1)}
	for i, f := range figures {
		g.panels = append(g.panels, f.panels...)
		if i == 0 {
			g.legendKind = f.legendKind
		}
	}
	return g
}

// names lists the names of all panels without repetition, Others last. The order decides
// colours, so names keep the order of the panels.
func (f *Figure) names() (names []string) {
	for _, p := range f.panels {
		for _, name := range p.names {
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

// Sizes of one panel, in points: wide enough for a page's column.
const (
	panelWidth  = 560
	panelHeight = 340
	smallWidth  = 330 // of panels next to others
	smallHeight = 240
	dpi         = 144
)

// rows returns the number of rows; the last one may not be full.
func (f *Figure) rows() int { return (len(f.panels) + f.columns - 1) / f.columns }

// size returns the size of the whole picture: panels, legend, title and margins.
func (f *Figure) size() (w, h vg.Length) {
	pw, ph := vg.Length(panelWidth), vg.Length(panelHeight)
	if f.columns > 1 {
		pw, ph = smallWidth, smallHeight
	} else if len(f.panels) > 1 {
		ph = smallHeight
	}
	w, h = pw*vg.Length(f.columns), ph*vg.Length(max(f.rows(), 1))
	lw, lh := f.legend().size()
	if f.title != "" {
		h += titleHeight
	}
	return w + lw + 2*margin, max(h, lh) + 2*margin
}

// SVG writes the figure as SVG. It is buffered, so that an error leaves no part of a
// picture.
func (f *Figure) SVG(w io.Writer) error {
	c := vgsvg.New(f.size())
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	var made bytes.Buffer
	if _, err := c.WriteTo(&made); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	// A browser without the font then takes a similar one.
	if _, err := w.Write(bytes.ReplaceAll(made.Bytes(), []byte(family), []byte(family+fallback))); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// The font of an SVG, and fallbacks for machines that do not have it.
const (
	family   = "font-family:Liberation Sans"
	fallback = ",Arial,Helvetica,sans-serif"
)

// PNG writes the figure as PNG with 144 dots an inch. At that density a picture is sharp on
// screens with two dots a point.
func (f *Figure) PNG(w io.Writer) error {
	width, height := f.size()
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// Save writes name.svg and name.png into a directory that exists. SVG is for pages, PNG for
// documents that do not take SVG.
func (f *Figure) Save(dir, name string) error {
	return errors.Join(
		save(filepath.Join(dir, name+".svg"), f.SVG),
		save(filepath.Join(dir, name+".png"), f.PNG),
	)
}

// save writes a file and reports an error of closing it.
func save(name string, write func(io.Writer) error) error {
	out, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if err := errors.Join(write(out), out.Close()); err != nil {
		return fmt.Errorf("picture %s: %w", name, err)
	}
	return nil
}
