// Package web serves the pages and the REST API of a cluster:
//
//	/               pages for people, rendered here, usable without JavaScript
//	/api/v1/        JSON for programs; openapi.json there describes it
//
// New returns the handler. It reads the cluster from a Source and checks callers with a Gate.
// Every path is a Route of one table (routes.go). The table makes the mux, the access checks
// and the OpenAPI document, so a path cannot lack one of them:
//
//	request ─► Route ─► parameters ─► Gate: verb, object ─► handler ─► Source
//	                        │ 400         │ 401, 403           │ 404, 409, 503
//
// Pages and API show the documents of internal/docs/apidoc, as `hammr` commands with --json do. So
// their figures are equal.
//
// # To add a path
//
// Add a Route to the table with its verb, object, parameters and answer. A page also needs a
// template in templates/. Everything that a page shows is in its URL.
package web
