// Package pool parses the allocation file of Hadoop's fair scheduler: which pool gets
// how many slots. It accepts the names of Hadoop 1 (<pool>, maps and reduces), those of
// YARN (<queue>, resources), and a mix of both:
//
//	<allocations>
//	  <pool name="ads">                          <queue name="research">
//	    <minMaps>20</minMaps>                      <weight>2</weight>
//	    <maxRunningJobs>5</maxRunningJobs>         <schedulingPolicy>fifo</schedulingPolicy>
//	  </pool>                                      <queue name="nightly"/>
//	  <user name="amy">                          </queue>
//	    <maxRunningJobs>3</maxRunningJobs>
//	  </user>
//	  <defaultMinSharePreemptionTimeout>60</defaultMinSharePreemptionTimeout>
//	</allocations>
//
// Pools form a tree below a root without a name. A pool in another is named by both names
// with a dot between them: research.nightly. A pool without a setting takes the file's
// default for it.
package pool
