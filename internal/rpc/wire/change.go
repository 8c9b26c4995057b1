package wire

// NewChange returns a change that needs an object and at most one value. do is object and verb of a row of the
// table of package docs, as job.kill.
func NewChange(do, id, value string) *ChangeRequest {
	return &ChangeRequest{Do: do, Id: id, Value: value}
}
