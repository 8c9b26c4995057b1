// Package kit holds small packages that any other may import, and that import only each other: waiting and
// synchronization, processes of the machine, untrusted text, validation, failpoints.
package kit
