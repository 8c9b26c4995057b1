// Package data holds what knows how records lie in files and in memory: formats and compression, keys, hash
// tables, the places of local files. These packages know blocks and splits, but no jobs and no daemons.
package data
