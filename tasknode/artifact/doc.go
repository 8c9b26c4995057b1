// Package artifact keeps the programs that tasks run on a tasknode's disk, each
// in a file named by the SHA-256 of its content:
//
//	cache, err := artifact.Open(artifact.Config{Dir: dir, Fetch: fetch})
//	path, release, err := cache.Get(ctx, name, sum)
//	… start path …
//	release()
//
// What Get returns is executable, has that very content, and stays until
// release is called. A program is fetched once however many ask for it, and is
// checked before anybody sees it; one that a former life of the daemon left is
// checked at its first use. Beyond Config.MaxBytes the programs that were used
// least recently go, never those in use.
//
// One Cache owns a directory at a time. Goroutines: one a fetch, which ends with
// the fetch, when nobody waits for it any more, or at Close.
package artifact
