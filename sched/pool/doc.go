// Package pool reads who is to get how much: the allocations of Hadoop's fair
// scheduler, in the spelling of Hadoop 1 (<pool>, maps and reduces) or that of
// YARN (<queue>, resources), or both mixed:
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
// Pools form a tree below a root, which has no name. A pool within another is
// known by both names with a dot between: research.nightly. What a pool does not
// say itself stands in it as the default that holds.
package pool
