// Package wireconnect holds the calls between clients, jobmasters and tasknodes
// as Go functions, generated from the services of package wire. Package rpc
// makes its clients and package edge serves it.
package wireconnect
