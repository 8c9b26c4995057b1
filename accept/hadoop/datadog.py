"""Runs Datadog's checks mapreduce and yarn on a cluster with a running job.

usage: datadog.py CHECKS URL TOKEN

CHECKS is a directory with the checks, as integrations-core has them: yarn/datadog_checks/yarn and
mapreduce/datadog_checks/mapreduce. Each check must report all that it can read.
"""

import sys
import time
from collections import defaultdict

import datadog_checks

checks, url, token = sys.argv[1:]
for name in ("yarn", "mapreduce"):
    datadog_checks.__path__.append(f"{checks}/{name}/datadog_checks")

from datadog_checks.base import AgentCheck  # noqa: E402
from datadog_checks.mapreduce import MapReduceCheck, mapreduce  # noqa: E402
from datadog_checks.yarn import yarn  # noqa: E402

# What the capacity scheduler of Hadoop 3 does not report either.
GONE = {"yarn.queue.max_active_applications", "yarn.queue.max_active_applications_per_user"}


def watched(kind):
    """Returns a subclass of a check that notes what it reports."""

    class Watched(kind):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.seen, self.states = defaultdict(list), []

        def gauge(self, name, value, *args, **kwargs):
            self.seen[name].append(float(value))

        increment = histogram = gauge

        def service_check(self, name, status, *args, **kwargs):
            self.states.append((name, status))

    return Watched


def run(kind, init, instance, want):
    instance = {"resourcemanager_uri": url, "cluster_name": "hammr", "username": "any", "password": token, **instance}
    for _ in range(5):  # running tasks report counters with a delay
        check = watched(kind)(kind.__name__, init, [instance])
        check.check(instance)
        if want <= set(check.seen):
            break
        time.sleep(2)
    # Applications that were killed are critical, which is right.
    bad = [s for s in check.states if s[1] != AgentCheck.OK and s[0] != "yarn.application.status"]
    missing = sorted(want - set(check.seen))
    assert check.states and not bad, bad
    assert not missing, f"{kind.__name__}: no {missing}"
    print(f"{kind.__name__}: {len(check.seen)} metrics, {len(check.states)} service checks OK")
    return check


def names(*tables):
    return {name for table in tables for name, _ in table.values()}


shape = run(yarn.YarnCheck, {}, {}, names(yarn.YARN_CLUSTER_METRICS, yarn.YARN_APP_METRICS, yarn.YARN_NODE_METRICS))
if "yarn.queue.root.capacity" in shape.seen:
    want = names(yarn.YARN_ROOT_QUEUE_METRICS, yarn.YARN_QUEUE_METRICS) - GONE
    assert want <= set(shape.seen), want - set(shape.seen)
    queues = len(shape.seen["yarn.queue.capacity"])
    assert queues >= 2, f"{queues} queues: the check has ended at the first"
    print(f"capacity scheduler: {queues} queues")
tables = vars(MapReduceCheck) | vars(mapreduce)
job = tables["MAPREDUCE_JOB_METRICS"]
counters = tables["MAPREDUCE_JOB_COUNTER_METRICS"]
tasks = names(tables["MAPREDUCE_MAP_TASK_METRICS"], tables["MAPREDUCE_REDUCE_TASK_METRICS"])
group = {"counter_group_name": "org.apache.hadoop.mapreduce.TaskCounter", "counters": [{"counter_name": "MAP_INPUT_RECORDS"}]}
run(MapReduceCheck, {"general_counters": [group]}, {"collect_task_metrics": True}, names(job, counters) | tasks)
