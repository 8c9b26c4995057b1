// Package must ends a test at an error of a call that only prepares what the test checks.
package must

// T is a test, a benchmark or one case of package rapid.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if a call has failed.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
