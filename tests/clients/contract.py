"""Runs the whole contract with a client that openapi-python-client generated from the OpenAPI document.

usage: contract.py PACKAGE_DIR BASE_URL API_KEY

Every operation of the document is called at least once with success, and once with an error. The script leaves objects
behind, so that generated requests find some.
"""

import importlib
import pkgutil
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

package_dir, base_url, key = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.path.insert(0, str(package_dir.parent))
package = importlib.import_module(package_dir.name)
models = importlib.import_module(f"{package_dir.name}.models")
client = package.AuthenticatedClient(base_url=base_url, token=key, raise_on_unexpected_status=True)

operations = {}
for tag in pkgutil.iter_modules([str(package_dir / "api")]):
    for operation in pkgutil.iter_modules([str(package_dir / "api" / tag.name)]):
        operations[operation.name] = importlib.import_module(f"{package_dir.name}.api.{tag.name}.{operation.name}")
called = set()


def call(operation, *args, expect=200, **kwargs):
    """The decoded body of the response, without `data`, after a check of its status."""
    response = operations[operation].sync_detailed(*args, client=client, **kwargs)
    assert response.status_code == expect, f"{operation}: {response.status_code} {response.content[:300]}"
    if expect < 300:
        called.add(operation)
    return getattr(response.parsed, "data", response.parsed)


def refused(operation, *args, expect, **kwargs):
    error = call(operation, *args, expect=expect, **kwargs)
    assert error.status == expect and error.message, f"{operation}: {error}"


def until(get, is_done):
    for _ in range(600):
        value = get()
        if is_done(value):
            return value
        time.sleep(0.05)
    raise AssertionError(f"no change in 30 s: {value}")


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<a href=/next>next</a>")

    do_HEAD = do_OPTIONS = do_GET

    def log_message(self, *args):
        pass


def serve_page():
    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def workspaces():
    new = call("create_workspace", body=models.NewWorkspace(name="Shop"), expect=201).created_id
    form = models.NewWorkspaceForm(name="Form", description="sent as a form")
    form = call("create_workspace", body=form, expect=201).created_id
    refused("create_workspace", body=models.NewWorkspace(name="shop "), expect=409)
    refused("create_workspace", body=models.NewWorkspace(name=" "), expect=400)
    call("edit_workspace", new, body=models.EditWorkspace(description="edited"), expect=204)
    assert call("get_workspace", new).description == "edited"
    call("delete_workspace", form, expect=204)
    refused("get_workspace", form, expect=404)
    refused("delete_workspace", 1, expect=409)
    assert new in [one.id for one in call("list_workspaces")]


def targets(url):
    refused("create_target", body=models.NewTarget(name="192.0.2.1"), expect=403)
    refused("create_target", body=models.NewTarget(name="a b"), expect=400)
    target = call("create_target", body=models.NewTarget(name=url), expect=201).created_id
    other = call("create_target", body=models.NewTargetForm(name="127.0.0.1"), expect=201).created_id
    refused("create_target", body=models.NewTarget(name=url), expect=409)
    assert call("get_target", target).type_ == models.TargetType.URL
    assert [one.id for one in call("list_targets", limit=1, page=2)] == [other]
    call("delete_target", other, expect=204)
    refused("delete_target", other, expect=404)
    return target


def scans(target, url):
    params = models.WebsiteParams.from_dict({"scan_type": "custom", "attack_active": [], "spider": {"depth": 1}})
    body = models.NewScan(tool_id=170, target_id=target, max_scan_time="5", tool_params=params)
    scan = call("start_scan", body=body, expect=201).created_id
    ended = until(lambda: call("get_scan", scan), lambda scan: scan.end_time is not None)
    assert ended.status_name == models.ScanStatus.FINISHED, ended
    assert scan in [one.id for one in call("list_scans", tool_id=170, status=models.ListScansStatus.FINISHED)]
    interval = models.ListScansStartTime(from_=ended.start_time, to=ended.start_time)
    assert [one.id for one in call("list_scans", start_time=interval)] == [scan]
    output = call("get_scan_output", scan)
    assert output.output_type == "finding_list" and output.output_data.findings[0].recommendation
    assert any("GET " in line for line in call("get_scan_raw", scan))
    tests = call("list_scan_tests", scan, resource_type=models.ListScanTestsResourceType.FINDING)
    assert tests and tests[0].resource_id == output.output_data.findings[0].id
    named = models.NewScan(tool_id=70, target_name="127.0.0.1")
    second = call("start_scan", body=named, expect=201).created_id
    call("stop_scan", second, expect=204)
    until(lambda: call("get_scan", second), lambda scan: scan.end_time is not None)
    call("delete_scan", second, expect=204)
    refused("get_scan", second, expect=404)
    refused("start_scan", body=models.NewScan(tool_id=70), expect=400)
    refused("start_scan", body=models.NewScan(tool_id=70, target_id=999), expect=404)
    refused("start_scan", body=models.NewScan(tool_id=70, target_name=url, max_scan_time="soon"), expect=422)
    return scan


def findings(scan):
    found = call("list_findings", task_id=scan, group_duplicates=True)
    assert call("get_finding", found[0].id) == found[0]
    refused("get_finding", 99999, expect=404)
    return [one.id for one in found]


def reports(scan, findings):
    def request(source, ids, filters=None):
        body = {"format": "json", "group_by": "target", "source": source, "resources": ids, "filters": filters}
        return models.NewReport.from_dict(body)

    report = call("request_report", body=request("scans", [scan], {"include_info": True}), expect=202).report_id
    second = call("request_report", body=request("findings", findings), expect=202).report_id
    for one in (report, second):
        until(lambda: call("get_report", one), lambda report: report.status == models.ReportStatus.FINISHED)
        groups = call("download_report", one)
        assert groups[0].to_dict()["findings"], groups
    call("delete_report", second, expect=204)
    assert report in [one.id for one in call("list_reports")]
    refused("request_report", body=request("scans", []), expect=400)
    refused("download_report", second, expect=404)


def wordlists():
    first, imported = call("list_wordlists")[0], call("list_wordlists")[-1]
    assert call("get_wordlist", first.id) == first
    assert len(call("get_wordlist_contents", first.id).splitlines()) == first.num_words
    refused("delete_wordlist", first.id, expect=403)
    call("delete_wordlist", imported.id, expect=204)
    refused("get_wordlist", 999, expect=404)


def loggers():
    logger = call("create_logger", body=models.NewLogger(label="one"), expect=201).created_id
    second = call("create_logger", body=models.NewLoggerForm(label="two"), workspace_id=1, expect=201).created_id
    refused("create_logger", body=models.NewLogger(label="a b"), expect=422)
    urlopen(call("get_logger", logger).handler_url + "path?a=1").read()
    try:
        urlopen(call("get_logger", logger).handler_url.rsplit("/", 2)[0] + "/nobody/").read()
    except HTTPError as refusal:
        assert refusal.code == 404, refusal
    assert len(call("list_unattributed_requests").requests) == 1
    captures = call("list_captures", logger).requests
    assert captures[0].url_params == "a=1", captures
    assert call("list_captures", logger, since_id=captures[0].id).requests == []
    call("delete_captures", logger, expect=204)
    call("delete_logger", second, expect=204)
    assert [one.num_requests for one in call("list_loggers") if one.id == logger] == [0]


def access():
    wrong = package.AuthenticatedClient(base_url=base_url, token="wrong")
    assert operations["list_scans"].sync_detailed(client=wrong).status_code == 401
    tag = operations["list_scans"].sync_detailed(client=client).headers["etag"]
    unchanged = operations["list_scans"].sync_detailed(client=client, if_none_match=tag)
    assert unchanged.status_code == 304, unchanged


def main():
    url = serve_page()
    workspaces()
    target = targets(url)
    scan = scans(target, url)
    reports(scan, findings(scan))
    wordlists()
    loggers()
    access()
    missing = sorted(set(operations) - called)
    assert not missing, f"not called: {missing}"
    print(f"generated client: {len(called)} operations called")


main()
