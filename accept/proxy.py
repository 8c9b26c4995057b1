"""Follows all links of the pages below a URL and submits all their forms, as a browser without scripts,
and reads the stream of changes.

    python3 proxy.py http://127.0.0.1:8000/hammr/ TOKEN RUNNING-JOB HAMMR
"""
import gzip
import html.parser
import http.cookiejar
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

root, token, running, hammr = sys.argv[1:]
origin = root.split("/hammr/")[0]
jar = http.cookiejar.CookieJar()
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
failed = []


def send(url, form=None):
    """Returns the status, headers and text of an answer."""
    data = urllib.parse.urlencode(form).encode() if form is not None else None
    request = urllib.request.Request(url, data, {"Accept-Encoding": "gzip"})
    try:
        answer = browser.open(request, timeout=30)
    except urllib.error.HTTPError as error:
        answer = error
    body = answer.read()
    if answer.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    if not answer.url.startswith(root):
        failed.append(f"{url} leads to {answer.url}, which is not below {root}")
    return answer.status, answer.headers, body.decode("utf-8", "replace")


class Page(html.parser.HTMLParser):
    """The links and forms of a page. A form has the values that it begins with."""

    def __init__(self, text):
        super().__init__()
        self.links, self.forms, self.form, self.select = [], [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag in ("a", "link") and a.get("href") and a.get("rel") != "icon":  # the icon is in the page
            self.links.append(a["href"])
        if tag == "script" and a.get("src"):
            self.links.append(a["src"])
        if tag == "form":
            self.form = {"method": a.get("method", "get"), "action": a.get("action", ""), "fields": {}}
            self.forms.append(self.form)
        if self.form is None:
            return
        if tag in ("input", "button") and a.get("name") and (a.get("type") != "radio" or "checked" in a):
            self.form["fields"][a["name"]] = a.get("value", "")
        if tag == "select":
            self.select = a.get("name")
        if tag == "option" and self.select is not None:
            self.form["fields"].setdefault(self.select, None)
            self.option = a

    def handle_data(self, data):
        if self.select is not None and data.strip():
            value = self.option.get("value", data.strip()) if hasattr(self, "option") else data.strip()
            if self.form["fields"].get(self.select) is None or "selected" in getattr(self, "option", {}):
                self.form["fields"][self.select] = value

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None
        if tag == "select":
            self.select = None


for _ in range(50):
    try:
        status, _, _ = send(root + "login")
        if status == 200:
            break
    except OSError:
        pass
    time.sleep(0.1)
status, _, text = send(root + "login", {"token": token, "to": "/hammr/"})
if status != 200 or "Overview" not in text:
    sys.exit(f"signed in: status {status}: {text[:500]}")

seen, kinds, forms, packed = set(), {}, {}, 0


def kind(url):
    """Pages that differ in numbers of ids and in values of parameters only are of one kind."""
    parts = urllib.parse.urlsplit(url)
    return re.sub(r"\d+", "0", parts.path) + "?" + ",".join(sorted(urllib.parse.parse_qs(parts.query)))


def crawl(starts):
    """Reads pages and two of each kind of those to which they lead. It collects their forms."""
    global packed
    wait = list(starts)
    while wait:
        url = wait.pop(0)
        status, headers, text = send(url)
        if status != 200:
            failed.append(f"{url}: status {status}")
        if "text/html" not in headers.get("Content-Type", ""):
            continue
        packed += headers.get("Content-Encoding") == "gzip"
        page = Page(text)
        links = page.links
        for form in page.forms:
            action = urllib.parse.urljoin(url, form["action"])
            if form["method"] == "post" and not action.endswith(("/logout", "/login")):
                forms.setdefault(kind(action), (action, url, form["fields"]))
            elif form["method"] == "get" and all(v is not None for v in form["fields"].values()):
                links.append(action.split("?")[0] + "?" + urllib.parse.urlencode({n: v for n, v in form["fields"].items() if v}))
        for link in links:
            to = urllib.parse.urljoin(url, link).split("#")[0]
            if not to.startswith(root):
                failed.append(f"{url} has a link to {to}")
            elif to not in seen and kinds.get(kind(to), 0) < 2:
                seen.add(to)
                kinds[kind(to)] = kinds.get(kind(to), 0) + 1
                wait.append(to)


crawl([root, f"{root}jobs/{running}", f"{root}scheduler/preview?policy=fair"])

# The stream: the first event comes at once, and a change that a form makes within 3 s.
stream = browser.open(urllib.request.Request(root + "api/v1/watch?topics=jobs", headers={"Accept": "text/event-stream"}), timeout=10)
began = time.time()
while not stream.readline().startswith(b"data"):
    pass
first = time.time() - began
status, _, text = send(f"{root}jobs/{running}/priority", {"priority": "HIGH"})
began = time.time()
while not stream.readline().startswith(b"event: change"):
    pass
change = time.time() - began
if status != 200 or first > 2 or change > 3:
    failed.append(f"priority: status {status}; the first event came after {first:.1f} s, a change after {change:.1f} s")

# Each kind of form is submitted once. Then its page may have others, as to resume a job. Forms that end
# things come last.
LAST = ["/fail", "/kill", "/transfer", "/remove"]
done, results = set(), {200: 0, 409: 0}
while len(done) < len(forms):
    action = min(forms.keys() - done, key=lambda f: next((i for i, end in enumerate(LAST) if f.rstrip("?").endswith(end)), -1))
    url, page, fields = forms[action]
    done.add(action)
    fields = {n: v or {"pool": "nightly", "master": "m9", "address": "127.0.0.1:1", "confirm": fields.get("policy")}.get(n) or "" for n, v in fields.items()}
    status, _, text = send(url, fields)
    said = re.search(r'<p class="notice"[^>]*>([^<]*)|<h1>\d+ [^<]*</h1>\s*<p>([^<]*)', text)
    print(f"  {action.removeprefix('/hammr').rstrip('?')}: {status} {(said and (said[1] or said[2]) or '').strip()[:110]}")
    results[status] = results.get(status, 0) + 1
    if status not in (200, 409):
        failed.append(f"{url} {fields}: status {status}")
    crawl([page, root + "scheduler"])
print(f"figure: {len(seen)} pages, {packed} of them compressed, {len(forms)} kinds of forms, {results[200]} done and {results[409]} refused; events after {first:.2f} and {change:.2f} s")
state = subprocess.run([hammr, "job", "status", running, "--json"], capture_output=True, text=True).stdout
if '"KILLED"' not in state:
    failed.append("the form has not killed the job")
if packed == 0 or len(forms) < 15:
    failed.append(f"{packed} pages are compressed; {len(forms)} kinds of forms")
sys.exit("\n".join(failed) or None)
