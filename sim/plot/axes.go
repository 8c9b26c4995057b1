package plot

import (
	"image/color"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Axes are what stands around a picture.
type Axes struct {
	Title string
	X, Y  string // what the axes measure, with the unit

	// LogX and LogY scale an axis logarithmically. What is not above 0 stands at
	// the least value that is.
	LogX, LogY bool

	// Max bounds the vertical axis from above; 0 leaves it to the data.
	Max float64

	Marks []Mark
}

// Mark is a moment on the horizontal axis, such as the loss of a machine: a
// vertical line across the picture.
type Mark struct {
	X    float64
	Name string // above it; may be ""
}

const (
	titleSize  = 13
	labelSize  = 12
	tickSize   = 10.5
	markHeight = 19 // for the names of marks, above a picture
)

var (
	ink  = color.Gray{Y: 0x22}
	pale = color.Gray{Y: 0xdd}
)

// sans is the font of all words.
func sans(size font.Length, weight font.Font) font.Font {
	weight.Typeface, weight.Variant, weight.Size = "Liberation", "Sans", size
	return weight
}

// panel is an empty picture with these axes.
func (a Axes) panel() *gplot.Plot {
	p := gplot.New()
	p.Title.Text, p.Title.Padding = a.Title, vg.Points(8)
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(titleSize, bold), ink
	for axis, words := range map[*gplot.Axis]string{&p.X: a.X, &p.Y: a.Y} {
		axis.Label.Text, axis.Label.Padding = words, vg.Points(4)
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = sans(labelSize, font.Font{}), ink
		axis.Tick.Label.Font, axis.Tick.Label.Color = sans(tickSize, font.Font{}), ink
		axis.Tick.Length, axis.Padding = vg.Points(4), 0
		axis.Color, axis.Tick.Color = ink, ink
		axis.Tick.Marker = evenTicks{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = pale, pale
	p.Add(grid)
	return p
}

// finish fits the axes to what the panel has got, and draws the marks over it.
func (a Axes) finish(p *gplot.Plot) {
	for _, m := range a.Marks {
		p.Add(&markLine{Mark: m})
		if m.Name != "" {
			p.Title.Padding = vg.Points(markHeight)
		}
	}
	fit(&p.X, a.LogX)
	fit(&p.Y, a.LogY)
	if a.Max != 0 {
		p.Y.Max = a.Max
	}
}

// fit rounds an axis to whole decades or leaves it as it is; one without data
// goes from 0 to 1.
func fit(axis *gplot.Axis, log bool) {
	if axis.Min > axis.Max {
		axis.Min, axis.Max = 0, 1
		if log {
			axis.Min, axis.Max = 1, 10
		}
	}
	if log {
		axis.Scale, axis.Tick.Marker = gplot.LogScale{}, decadeTicks{}
		if axis.Min >= axis.Max {
			axis.Min, axis.Max = axis.Min/2, axis.Max*2
		}
		return
	}
	if axis.Min == axis.Max {
		axis.Max = axis.Min + math.Max(1, math.Abs(axis.Min)/10)
	}
}

// pad leaves some room on both sides of the data, where curves rise upright.
func (a Axes) pad(axis *gplot.Axis) {
	const room = 0.015
	if a.LogX {
		factor := math.Pow(axis.Max/axis.Min, room)
		axis.Min, axis.Max = axis.Min/factor, axis.Max*factor
		return
	}
	width := (axis.Max - axis.Min) * room
	axis.Min, axis.Max = axis.Min-width, axis.Max+width
}

// clampToPositive puts values that a logarithmic axis has no place for at the least
// that it has one for, or at 1 when there is none.
func clampToPositive(values []float64) {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = math.Min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		least = 1
	}
	for i, v := range values {
		if v <= 0 {
			values[i] = least
		}
	}
}
