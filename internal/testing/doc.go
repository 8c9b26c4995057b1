// Package testing holds helpers that only tests import: browsers, seeds and levels of tests, checks of what a program
// does before main. Clusters for tests are in package ops/testcluster, since the laboratory uses them too.
package testing
