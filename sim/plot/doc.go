// Package plot draws the figures of simulations: distributions, curves with intervals,
// stacked areas, bars and Gantt charts of slots. It writes SVG, and the same data gives the
// same bytes.
//
//	f := plot.CDF(plot.Axes{Title: "Sojourn times", X: "sojourn time [s]"},
//		plot.Sample{Name: "fair", Values: fair}, plot.Sample{Name: "hfsp", Values: hfsp})
//	err := f.Save("results", "sojourn") // sojourn.svg
//
// Equal names have equal colours, in all panels of a Grid too. The colours are safe for
// colour-blind readers, and lines differ by dashes and markers as well. Invalid data, such
// as a NaN, is an error when the figure is written. No data gives empty axes.
//
// A figure is described first and drawn later, because colours depend on the names of all
// panels:
//
//	data ─► CDF, Lines, Bars, Areas, Gantt ─► Figure ─► Grid ─► Save: name.svg
//	                                          charts   one legend
//
// Units are part of the labels, such as "time [s]". The files svg.go and ticks.go know
// nothing of figures: they hold the elements of an SVG picture and the ticks of an axis.
package plot
