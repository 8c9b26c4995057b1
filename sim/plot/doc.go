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
//
// A figure is described first and drawn later:
//
//	data ─► CDF, Lines, Bars, Areas, Gantt ─► Figure ─► Grid ─► Save: name.svg, name.png
//	                                          panels   one legend
//
// The drawing itself is gonum's; this package adds what its pictures need and gonum lacks:
// one legend for several panels, stacked areas over time, Gantt charts, intervals as
// whiskers, marks across a panel, and ticks at round numbers. Units are part of the labels,
// such as "time [s]".
package plot
