// Package docs is the table of what can be read of a cluster, and of what can be changed. A Document is a
// row: its path in the REST API, a struct of parameters, and the type of the answer:
//
//	page, err := docs.Jobs.Read(ctx, source, docs.JobQuery{Pool: "etl"})
//
// From a row follow the route of the API with the check of its parameters, JSON and CSV, its description in
// OpenAPI, and the call of clients. A Source answers documents: a master from its own state (a Table), a
// client by asking a master. Changes are rows of Actions. A new document is a row here, and one function
// where it is answered.
package docs
