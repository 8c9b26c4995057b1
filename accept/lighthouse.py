"""Prints the scores of a page in Lighthouse's report, and fails if one misses its target.

    python3 lighthouse.py /jobs report.json
"""
import json
import sys

page, name = sys.argv[1:]
with open(name) as f:
    report = json.load(f)

# The targets: scores in per cent, times in ms.
SCORES = {"performance": 95, "accessibility": 100, "best-practices": 95}
AUDITS = {"largest-contentful-paint": 1000, "total-blocking-time": 100, "cumulative-layout-shift": 0.05}

figures, missed = [], []
for category, least in SCORES.items():
    score = round(100 * (report["categories"][category]["score"] or 0))
    figures.append(f"{category} {score}")
    if score < least:
        missed.append(f"{category} {score} < {least}")
for audit, most in AUDITS.items():
    value = report["audits"][audit]["numericValue"]
    figures.append(f"{audit} {value:.3g}")
    if value > most:
        missed.append(f"{audit} {value:.4g} > {most}")
print(f"figure: {page}: {', '.join(figures)}")
for category in SCORES:
    for ref in report["categories"][category]["auditRefs"]:
        audit = report["audits"][ref["id"]]
        if missed and ref["weight"] and audit["score"] is not None and audit["score"] < 0.9:
            print(f"  {page}: {audit['id']}: {audit.get('displayValue', audit['title'])}")
if missed:
    sys.exit(f"{page}: " + "; ".join(missed))
