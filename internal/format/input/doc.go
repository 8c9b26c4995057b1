// Package input opens the bytes of an input file for the formats: from an
// offset on where the file is plain, decompressed from its start where its
// extension names a codec. Files of a network file system are read ahead in
// the background; a local file is read where it is asked for, since its bytes
// come from the page cache and a second goroutine would only cost a copy.
package input
