// Package hammrtest starts clusters of real processes for tests, and breaks them: masters
// and tasknodes on this machine that end with the test.
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
// m1, m2, … are the names of masters, n1, n2, … those of tasknodes. Calls return no errors:
// what cannot be done fails the test. They are made from the goroutine of the test.
//
// The daemons run the program hammr. The environment variable HAMMR_PROGRAM names its file.
// Without it, the Go command builds the program once for all tests of the binary, from the
// version of this module that the tests use.
package hammrtest
