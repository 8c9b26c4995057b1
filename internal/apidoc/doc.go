// Package apidoc has the JSON documents that describe a cluster. `hammr` commands print
// these documents with --json, and a web server sends them. For each type, one function
// makes the document from the messages of a jobmaster (internal/wire):
//
//	status, err := client.Jobs(ctx, true)
//	documents := apidoc.Jobs(status)
//
// The keys are an API: they do not change. Times are ms since the epoch. Lists are
// never null unless omitted. A single job has the document of internal/report.
package apidoc

// Of returns the document that is made of an answer, or why there is no answer.
func Of[A, D any](answer A, err error, document func(A) D) (d D, _ error) {
	if err == nil {
		d = document(answer)
	}
	return d, err
}
