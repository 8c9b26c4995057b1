// Package apidoc has the types of the JSON documents that describe a cluster. A jobmaster makes
// them, masters and the REST API send them (package docs), and `hammr` commands print them with
// --json. Only a job is a message first, since programs follow it:
//
//	status, err := client.Watch(ctx, id, nil)
//	document := apidoc.JobOf(status)
//
// The keys are an API: they do not change. Times are ms since the epoch. Lists are
// never null unless omitted. A single job has the document of internal/docs/report.
package apidoc
