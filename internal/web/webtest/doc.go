// Package webtest does in tests what a browser does with the answers of a page. Unlike package browsertest it
// needs no browser.
package webtest
