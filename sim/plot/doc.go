// Package plot draws the pictures of simulations: distributions, curves with
// intervals, stacked areas, bars, and who held which slot when. Data goes in, an
// SVG or a PNG comes out, and the same data gives the same bytes.
//
//	f := plot.CDF(plot.Axes{Title: "Sojourn times", X: "sojourn time [s]"},
//		plot.Sample{Name: "fair", Values: fair}, plot.Sample{Name: "hfsp", Values: hfsp})
//	err := f.Save("results", "sojourn") // sojourn.svg and sojourn.png
//
// Things of one name have one colour, in all panels of a Grid too. The colours are
// told apart by the colour-blind; lines differ by their dashes and marks as well.
// What cannot be drawn, such as a NaN, is an error of the figure when it is
// written; no data at all gives empty axes.
package plot
