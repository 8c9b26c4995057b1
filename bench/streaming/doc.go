// Package streaming has maps and reduces for Hadoop's streaming: programs that read lines of
// key, tab and value from their standard input and write such lines. A reduce gets its lines in
// order of key. Benchmarks run on Hadoop what its own examples do not have:
//
//	hadoop jar hadoop-streaming.jar -files hammr -mapper './hammr bench stream index map' …
//
// Their results are the same bytes as those of the programs of package examples.
package streaming
