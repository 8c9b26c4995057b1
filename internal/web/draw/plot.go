package draw

// Plot is a small picture of a page with two axes that begin at 0. Its shapes have classes: the style sheet of
// the page has their colours.
type Plot struct {
	Plane
	Width, Height  int
	Title, Text    string // for screen readers too: what it shows, and what to see in it
	XName, YName   string
	XTicks, YTicks []Tick
	Shapes         []Shape
}

// Shape is a part of a picture that is drawn in one style.
type Shape struct{ Class, D string }

// Sizes of a plot.
const (
	plotWidth, plotHeight = 420, 200
	plotLeft, plotBottom  = 64, 24
	plotTop, plotRight    = 10, 24
)

// NewPlot returns a plot without shapes. A highest value of 0 is taken as 1.
func NewPlot(title, text, xName, yName string, xMax, yMax float64, x, y Scale) *Plot {
	p := &Plot{
		Plane: NewPlane(plotLeft, plotTop, plotWidth-plotRight, plotHeight-plotBottom, 0, xMax, yMax),
		Width: plotWidth, Height: plotHeight, Title: title, Text: text, XName: xName, YName: yName,
	}
	p.XTicks, p.YTicks = x.Ticks(p.xAxis.max, p.X), y.Ticks(p.yAxis.max, p.Y)
	return p
}

// add adds a shape that is not empty.
func (p *Plot) add(class string, d *Path) {
	if d.Len() > 0 {
		p.Shapes = append(p.Shapes, Shape{class, d.String()})
	}
}

// Line adds a line through points at x(0), x(1), ….
func (p *Plot) Line(class string, ys []float64, x func(i int) float64) {
	d := new(Path)
	for i, y := range ys {
		if i == 0 {
			d.Move(p.X(x(i)), p.Y(y))
		} else {
			d.Line(p.X(x(i)), p.Y(y))
		}
	}
	p.add(class, d)
}

// Bars adds bars from base to base + height; bar i covers part i of the horizontal axis, without a gap if there
// are many.
func (p *Plot) Bars(class string, base, height []float64) {
	d, n := new(Path), float64(len(height))
	width := p.xAxis.max / n
	for i, h := range height {
		if h > 0 {
			top, bottom := p.Y(base[i]+h), p.Y(base[i])
			d.Box(p.X(float64(i)*width), min(top, bottom-1), p.X(float64(i+1)*width)-min(1, 40/n), bottom)
		}
	}
	p.add(class, d)
}

// Dots adds points: squares, or crosses.
func (p *Plot) Dots(class string, points [][2]float64, crosses bool) {
	shape := "m-2.5 -2.5h5v5h-5z"
	if crosses {
		shape = cross
	}
	d := new(Path)
	for _, at := range points {
		d.Move(p.X(at[0]), p.Y(at[1]))
		d.WriteString(shape)
	}
	p.add(class, d)
}
