// Package browsertest opens pages in Chromium, for tests:
//
//	b := browsertest.Start(t)
//	tab := b.Open(t, browsertest.View{Width: 390, Dark: true})
//	tab.Go(server.URL + "/jobs")
//	for _, problem := range tab.Problems() { … }
//
// The tests of a binary share one Chromium, which Main ends. Each Browser has cookies and a cache of its own.
//
// A tab collects what a user would not see and a test must: errors of the console, violations of the
// Content-Security-Policy and of Trusted Types, dialogs, and requests to other origins. The browser
// resolves no name, so that a page cannot depend on another host. Tab.Axe checks a page by the rules
// of axe-core, which Maven fetches once into the user's cache.
//
// A test is skipped if Chromium or axe-core is missing, and fails if CI is "true".
package browsertest
