package draw

// Plane is the rectangle between two axes of a picture, in the units of the picture.
//
//	Left, Top ┌────────┐
//	          │        │
//	          └────────┘ Right, Bottom
type Plane struct {
	Left, Top, Right, Bottom float64

	xAxis, yAxis axis
}

// NewPlane returns a plane with linear axes: from one number to another across, and from 0 up. An axis without a length
// gets the length 1.
func NewPlane(left, top, right, bottom, from, to, highest float64) Plane {
	if to <= from {
		to = from + 1
	}
	if highest <= 0 {
		highest = 1
	}
	return Plane{left, top, right, bottom, axis{min: from, max: to}, axis{max: highest}}
}

// X returns where a value of the horizontal axis is. A value outside of the axis is at its end.
func (p *Plane) X(v float64) float64 { return p.Left + (p.Right-p.Left)*p.xAxis.part(v) }

// Y returns where a value of the vertical axis is. A value outside of the axis is at its end.
func (p *Plane) Y(v float64) float64 { return p.Bottom - (p.Bottom-p.Top)*p.yAxis.part(v) }
