// Package plot draws the pictures of simulations: distributions, curves with intervals,
// stacked areas, bars and Gantt charts of slots. It writes SVG or PNG, and the same data
// gives the same bytes.
//
//	f := plot.CDF(plot.Axes{Title: "Sojourn times", X: "sojourn time [s]"},
//		plot.Sample{Name: "fair", Values: fair}, plot.Sample{Name: "hfsp", Values: hfsp})
//	err := f.Save("results", "sojourn") // sojourn.svg and sojourn.png
//
// Equal names have equal colours, in all panels of a Grid too. The colours are safe for
// colour-blind readers, and lines differ by dashes and markers as well. Invalid data, such
// as a NaN, is an error when the figure is written. No data gives empty axes.
package plot
