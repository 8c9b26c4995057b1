// Package hammrtest starts clusters of real processes for tests and injects faults into
// them. Masters and tasknodes run on this machine and end with the test.
//
//	func TestMain(m *testing.M) { hammrtest.Main(m, wordcount) } // tasks run this binary
//
//	func TestWordcountSurvives(t *testing.T) {
//		c := hammrtest.Cluster(t, 3, 4)
//		in := mrtest.File(t, "in", text)
//		job := c.Submit(wordcount, "-D", "hammr.debug.record.sleep=5ms", in, c.Output())
//		job.AwaitMaps(50)
//		c.Kill("n2")
//		c.KillLeader()
//		job.Succeeds()
//		job.SameAsUndisturbed()
//	}
//
// Masters are named m1, m2, …; tasknodes are named n1, n2, …. Calls return no errors: if an
// operation fails, so does the test. Make all calls from the goroutine of the test.
//
// The daemons run the program hammr. The environment variable HAMMR_PROGRAM names its file.
// If it is unset, the Go command builds the program once for all tests of the binary. The
// source is the version of this module that the tests use.
package hammrtest
