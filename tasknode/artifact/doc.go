// Package artifact caches the programs that tasks run on a tasknode's disk, each in a
// file named by the SHA-256 of its content:
//
//	cache, err := artifact.Open(artifact.Config{Dir: dir, Fetch: fetch})
//	path, release, err := cache.Get(ctx, name, sum)
//	… start path …
//	release()
//
// The file that Get returns is executable, has the requested content, and stays until
// release is called. Concurrent calls share one fetch. A fetched file is verified
// before Get returns it, and a file of an earlier start of the daemon before its first
// use. Beyond Config.MaxBytes the cache evicts the programs that were used least
// recently, but none that is in use.
//
// One Cache owns a directory at a time. Goroutines: one for each fetch. It ends with
// the fetch, when the last caller of Get gives up, or at Close.
package artifact
