// Package apidoc has the JSON documents that describe a cluster: what `hammr`
// commands print with --json, and what a web server answers. Each type has one
// function that makes it of the messages of a jobmaster (internal/wire):
//
//	status, err := client.Jobs(ctx, true)
//	documents := apidoc.Jobs(status)
//
// The keys are an API: they do not change. Times are ms since the epoch. Lists are
// never null unless omitted. A single job has the document of internal/report.
package apidoc
