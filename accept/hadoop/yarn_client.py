"""Calls the read methods of yarn-api-client on a cluster, and kills, moves and changes the priority of a job.

usage: yarn_client.py URL TOKEN JOB RUNNING

JOB is a job that is over, RUNNING one that runs. The figures must be those of `hammr job status
--json`, which are read from the standard input.
"""

import json
import sys
import time

from requests.auth import HTTPBasicAuth
from yarn_api_client import ApplicationMaster, HistoryServer, NodeManager, ResourceManager

# Methods of parts of YARN that Hammr does not have.
ABSENT = {
    "cluster_application_attempt_info", "cluster_application_attempt_containers", "cluster_application_attempt_container_info",
    "cluster_reservations", "cluster_scheduler_conf_mutation", "scheduler_activities", "application_activities",
    "cluster_application_timeouts", "cluster_application_timeout", "cluster_container_signal",
}


def main():
    url, token, job, running = sys.argv[1:]
    auth = HTTPBasicAuth("any", token)
    app = job.replace("job_", "application_")
    manager = ResourceManager([url], auth=auth)
    assert manager.get_active_endpoint() == url, manager.get_active_endpoint()
    calls = 0

    def call(method, *args, **kwargs):
        nonlocal calls
        calls += 1
        return method(*args, **kwargs).data

    info = call(manager.cluster_information)["clusterInfo"]
    assert info["state"] == "STARTED" and isinstance(info["id"], int), info
    metrics = call(manager.cluster_metrics)["clusterMetrics"]
    assert metrics["appsSubmitted"] >= 2 and metrics["activeNodes"] >= 1, metrics
    if call(manager.cluster_scheduler)["scheduler"]["schedulerInfo"]["type"] == "capacityScheduler":  # the only one that it reads
        assert manager.cluster_scheduler_queue("nightly")["state"] == "RUNNING"
    for _ in range(25):  # a list may be a second old
        apps = call(manager.cluster_applications)["apps"]["app"]
        if {a["id"] for a in apps} >= {app, running.replace("job_", "application_")}:
            break
        time.sleep(0.2)
    else:
        raise AssertionError(apps)
    finished = call(manager.cluster_applications, states=["FINISHED"], limit="10", application_types=["MAPREDUCE"])["apps"]["app"]
    assert all(a["state"] == "FINISHED" for a in finished) and finished, finished
    one = call(manager.cluster_application, app)["app"]
    call(manager.cluster_application_attempts, app)
    assert call(manager.cluster_application_state, app)["state"] == "FINISHED"
    assert call(manager.cluster_application_statistics, states=["FINISHED"])["appStatInfo"]["statItem"][0]["count"] >= 1
    assert call(manager.cluster_get_application_queue, app)["queue"] == "root.default"
    assert call(manager.cluster_get_application_priority, app)["priority"] == 3
    for node in call(manager.cluster_nodes)["nodes"]["node"]:
        assert call(manager.cluster_node, node["id"])["node"]["id"] == node["id"]

    want = json.load(sys.stdin)
    assert one["name"] == want["name"] and one["user"] == want["user"], (one, want)
    assert one["startedTime"] == want["startTime"] and one["finishedTime"] == want["finishTime"], (one, want)

    history = HistoryServer(url, auth=auth)
    call(history.application_information)
    assert job in {j["id"] for j in call(history.jobs)["jobs"]["job"]}
    assert job in {j["id"] for j in call(history.jobs, state="SUCCEEDED", user=want["user"], limit="5")["jobs"]["job"]}
    master = ApplicationMaster(url, auth=auth)
    call(master.application_information, app)
    assert call(master.jobs, app)["jobs"]["job"][0]["id"] == job
    for prefix, of in (((), history), ((app,), master)):
        h = call(of.job, *prefix, job)["job"]
        assert h["mapsCompleted"] == sum(t["type"] == "MAP" for t in want["tasks"]), h
        call(getattr(of, "job_attempts"), *prefix, job)
        call(getattr(of, "job_conf"), *prefix, job)
        totals = {}
        for group in call(of.job_counters, *prefix, job)["jobCounters"]["counterGroup"]:
            for c in group["counter"]:
                totals[c["name"]] = c
                kinds = c["mapCounterValue"] + c["reduceCounterValue"]
                if not group["counterGroupName"].endswith("JobCounter") and not c["name"].endswith("_MAX"):
                    assert kinds == c["totalCounterValue"], c
        records = want["counters"]["Map-Reduce Framework"]
        assert totals["MAP_INPUT_RECORDS"]["mapCounterValue"] == records["Map input records"], totals
        assert totals["REDUCE_OUTPUT_RECORDS"]["reduceCounterValue"] == records["Reduce output records"], totals
        tasks = call(of.job_tasks, *prefix, job)["tasks"]["task"]
        assert {t["id"] for t in tasks} == {t["id"] for t in want["tasks"]}, tasks
        if not prefix:
            assert len(call(of.job_tasks, job, "m")["tasks"]["task"]) == h["mapsCompleted"]
        for t in tasks:
            call(of.job_task, *prefix, job, t["id"])
            counters = call(of.task_counters, *prefix, job, t["id"])["jobTaskCounters"]["taskCounterGroup"]
            assert counters, t
            for a in call(of.task_attempts, *prefix, job, t["id"])["taskAttempts"]["taskAttempt"]:
                call(of.task_attempt, *prefix, job, t["id"], a["id"])
                call(of.task_attempt_counters, *prefix, job, t["id"], a["id"])
                if prefix:
                    call(of.task_attempt_state, *prefix, job, t["id"], a["id"])

    run = running.replace("job_", "application_")
    containers = set()
    for n in call(manager.cluster_nodes, states=["RUNNING"])["nodes"]["node"]:
        node = NodeManager("http://" + n["nodeHTTPAddress"], auth=auth)
        assert call(node.node_information)["nodeInfo"]["id"] == n["id"]
        for a in call(node.node_applications)["apps"].get("app", []):
            assert call(node.node_application, a["id"])["app"]["containerids"] == a["containerids"], a
        for c in call(node.node_containers)["containers"].get("container", []):
            containers.add(c["id"])
            assert call(node.node_container, c["id"])["container"]["nodeId"] == n["id"], c
    named = set()
    for _ in range(25):  # a master knows a moment later than a tasknode that an attempt has started
        for t in call(master.job_tasks, run, running)["tasks"]["task"]:
            for a in call(master.task_attempts, run, running, t["id"])["taskAttempts"].get("taskAttempt", []):
                named.add(a["assignedContainerId"])
        if containers <= named:
            break
        time.sleep(0.2)
    assert containers and containers <= named, (containers, named)
    assert call(master.jobs, run)["jobs"]["job"][0]["state"] == "RUNNING"
    assert call(manager.cluster_change_application_queue, run, "root.nightly")["queue"] == "root.nightly"
    assert call(manager.cluster_change_application_priority, run, 5)["priority"] == 5
    call(manager.cluster_application_kill, run)
    for _ in range(100):
        state = call(manager.cluster_application_state, run)["state"]
        if state == "KILLED":
            break
        time.sleep(0.2)
    assert state == "KILLED", state
    assert call(manager.cluster_application_kill, run)["state"] == "KILLED"  # again, which does nothing
    print(f"yarn-api-client: {calls} calls, all answered; absent in Hammr: {len(ABSENT)} methods")


main()
