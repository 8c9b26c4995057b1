// Package draw draws as SVG: whole figures of simulations and experiments, and the parts of pictures of pages. The
// same data gives the same bytes.
//
// A Figure has distributions, curves with intervals, stacked areas, bars or a Gantt chart of slots:
//
//	f := draw.CDF(draw.Axes{Title: "Sojourn times", X: "sojourn time [s]"},
//		draw.Sample{Name: "fair", Values: fair}, draw.Sample{Name: "hfsp", Values: hfsp})
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
// Units are part of the labels, such as "time [s]".
//
// A page writes its pictures itself, since their colours are in its style sheet. It takes what figures consist of
// too: a Path is an outline, a Plane places values, and Scale and Clock choose the ticks of an axis. A Plot is a
// small picture of these.
package draw
