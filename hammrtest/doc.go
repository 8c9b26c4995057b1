// Package hammrtest is a cluster of real processes for tests, which may be
// broken: masters and tasknodes on this machine, that end with the test.
//
//	func TestMain(m *testing.M) { hammrtest.Main(m, wordcount) } // tasks are this binary again
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
// Daemons have names: m1, m2, … are masters, n1, n2, … tasknodes. Whatever cannot
// be done fails the test, so calls return no errors; they are made from the
// goroutine of the test.
//
// The daemons are the program hammr: the file that the environment variable
// HAMMR_PROGRAM names, else one that is built once for all tests of the binary, by
// the Go command, from the version of this module that the tests use.
package hammrtest
