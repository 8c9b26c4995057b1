package plot

import (
	"image/color"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Axes are the title, the labels and the scales of a picture.
//
//	      Title
//	Y  ┌──────────────────┐
//	   │        ┊ Mark    │
//	   └──────────────────┘
//	            X
type Axes struct {
	Title string
	X, Y  string // labels, with the unit

	// LogX and LogY make an axis logarithmic. Values that are not positive are drawn at the
	// least positive one.
	LogX, LogY bool

	// Max is the upper bound of the vertical axis; 0 derives it from the data.
	Max float64

	Marks []Mark
}

// Mark is a vertical line at a moment, such as a machine failure.
type Mark struct {
	X    float64
	Name string // above the line; may be ""
}

const (
	titleSize  = 13
	labelSize  = 12
	tickSize   = 10.5
	markHeight = 19 // space above a picture for the names of marks
)

var (
	ink  = color.Gray{Y: 0x22}
	pale = color.Gray{Y: 0xdd}
)

// sans returns the font of all text. gonum embeds Liberation, so pictures do not depend on the
// machine's fonts.
func sans(size font.Length, weight font.Font) font.Font {
	weight.Typeface, weight.Variant, weight.Size = "Liberation", "Sans", size
	return weight
}

// panel returns an empty picture with these axes. Everything that a theme would set is set
// here, so that all pictures look alike.
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
	// The grid is added first, so that the data covers it.
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = pale, pale
	p.Add(grid)
	return p
}

// finish fits the axes to the data and draws the marks over it. It is called after the
// data, whose range decides the axes.
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

// fit sets the scale of an axis. Without data it is from 0 to 1. A range of one value is
// widened, since gonum cannot draw it.
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

// pad adds padding on both sides of the data, where curves rise vertically. On a
// logarithmic axis the padding is a factor.
func (a Axes) pad(axis *gplot.Axis) {
	const padding = 0.015
	if a.LogX {
		factor := math.Pow(axis.Max/axis.Min, padding)
		axis.Min, axis.Max = axis.Min/factor, axis.Max*factor
		return
	}
	width := (axis.Max - axis.Min) * padding
	axis.Min, axis.Max = axis.Min-width, axis.Max+width
}

// clampToPositive replaces values that a logarithmic axis cannot show by the least positive
// one, or by 1 if there is none. A sojourn time of 0 is rare but possible, and must not
// make the picture fail.
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
