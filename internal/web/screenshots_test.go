package web

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// comparePictures returns what part of the pixels differs between two pictures of a page, and a picture of
// both side by side, with the new one in pale grey to their right, in which differing pixels are red.
func comparePictures(old, now image.Image) (part float64, shown *image.RGBA) {
	const gap = 16
	size := old.Bounds().Union(now.Bounds()).Size()
	second, third := image.Pt(size.X+gap, 0), image.Pt(2*(size.X+gap), 0)
	shown = image.NewRGBA(image.Rect(0, 0, third.X+size.X, size.Y))
	draw.Draw(shown, shown.Bounds(), image.NewUniform(color.Gray{160}), image.Point{}, draw.Src)
	draw.Draw(shown, old.Bounds(), old, image.Point{}, draw.Src)
	draw.Draw(shown, now.Bounds().Add(second), now, image.Point{}, draw.Src)
	differing := 0
	for y := range size.Y {
		for x := range size.X {
			at := image.Pt(x, y)
			inBoth := at.In(old.Bounds()) && at.In(now.Bounds())
			if inBoth && shown.RGBAAt(x, y) == shown.RGBAAt(second.X+x, y) {
				grey := color.GrayModel.Convert(now.At(x, y)).(color.Gray)
				shown.Set(third.X+x, y, color.Gray{192 + grey.Y/4})
				continue
			}
			differing++
			shown.Set(third.X+x, y, color.RGBA{R: 255, A: 255})
		}
	}
	return float64(differing) / float64(size.X*size.Y), shown
}

func TestComparePictures(t *testing.T) {
	blue := color.RGBA{B: 255, A: 255}
	of := func(width, height int, dots ...image.Point) *image.RGBA {
		m := image.NewRGBA(image.Rect(0, 0, width, height))
		draw.Draw(m, m.Bounds(), image.White, image.Point{}, draw.Src)
		for _, at := range dots {
			m.SetRGBA(at.X, at.Y, blue)
		}
		return m
	}
	for what, c := range map[string]struct {
		old, now *image.RGBA
		part     float64
	}{
		"equal":   {of(10, 4, image.Pt(1, 1)), of(10, 4, image.Pt(1, 1)), 0},
		"a dot":   {of(10, 4, image.Pt(1, 1)), of(10, 4), 1. / 40},
		"moved":   {of(10, 4, image.Pt(1, 1)), of(10, 4, image.Pt(2, 1)), 2. / 40},
		"higher":  {of(10, 4), of(10, 5), 10. / 50},
		"lower":   {of(10, 5), of(10, 4), 10. / 50},
		"a frame": {of(8, 5), of(10, 4), 18. / 50}, // two columns, one row, and the corner that neither has
	} {
		part, shown := comparePictures(c.old, c.now)
		red := 0
		for y := range shown.Bounds().Dy() {
			for x := range shown.Bounds().Dx() {
				if (shown.RGBAAt(x, y) == color.RGBA{R: 255, A: 255}) {
					red++
				}
			}
		}
		size := c.old.Bounds().Union(c.now.Bounds()).Size()
		if part != c.part || float64(red)/float64(size.X*size.Y) != part {
			t.Errorf("%s: %v of the pixels differ, %d are red, want %v", what, part, red, c.part)
		}
	}
	_, shown := comparePictures(of(10, 4, image.Pt(1, 1)), of(10, 4, image.Pt(2, 1)))
	if shown.RGBAAt(1, 1) != blue || shown.RGBAAt(10+16+2, 1) != blue || shown.Bounds().Dx() != 3*10+2*16 {
		t.Errorf("old and new are not side by side in %v", shown.Bounds())
	}
}
