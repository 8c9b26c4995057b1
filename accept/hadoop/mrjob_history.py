"""Reads the events of a job with mrjob's parser. The counters must be those of `hammr job history --json`, read from the standard input.

usage: mrjob_history.py FILE
"""

import json
import sys

from mrjob.logs.history import _parse_yarn_history_log

with open(sys.argv[1], encoding="utf-8") as lines:
    parsed = _parse_yarn_history_log(lines)
want = {group: counters for group, counters in json.load(sys.stdin)["counters"].items()}
got = parsed["counters"]
for group, counters in got.items():
    for name, value in counters.items():
        assert want[group][name] == value, (group, name, value, want[group])
missing = {(g, n) for g, names in want.items() for n, v in names.items() if v and n not in got.get(g, {})}
assert not missing, missing
print(f"mrjob: {sum(map(len, got.values()))} counters equal, {len(parsed['attempt_to_container_id'])} attempts")
