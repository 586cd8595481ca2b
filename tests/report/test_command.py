"""`emdiam report` as a user calls it, and its page in a real browser where one is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from emdiam.report import make_report
from tests.conftest import Run
from tests.helpers.report_runs import exact_result, write_batch, write_long_night
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.thin(4, sampled=("arguments",))

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def test_the_default_is_a_page(command: Run, tmp_path: Path):
    write_batch(tmp_path / "night")
    done = command("report", "night")
    assert (done.returncode, done.stdout) == (0, "10 runs reported: report.html\n"), done.stderr
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert not (tmp_path / "report.html.partial").exists()


def test_the_name_of_the_file_chooses_the_format(command: Run, tmp_path: Path):
    (tmp_path / "run.json").write_text(json.dumps(exact_result()))
    assert command("report", "run.json", "-o", "r.md").returncode == 0
    assert (tmp_path / "r.md").read_text().startswith("# emdiam report")
    done = command("report", "run.json", "--format", "md")
    assert done.stdout == (tmp_path / "r.md").read_text()
    assert json.loads(command("report", "run.json", "--format", "json").stdout)["runs"][0]["name"] == "run"


def test_figures_go_to_a_folder(command: Run, tmp_path: Path):
    write_batch(tmp_path / "night")
    done = command("report", "night", "--format", "png", "-o", "figures", "--json")
    answer = json.loads(done.stdout)
    assert sorted(answer["files"]) == sorted(f"figures/{path.name}" for path in (tmp_path / "figures").iterdir())
    assert answer["runs"]["good"] == "answered" and answer["runs"]["later"] == "open"


@pytest.mark.parametrize("arguments", [["absent.json"], ["bad.json"], ["good.json", "-o", "absent/r.html"], []])
def test_what_cannot_be_is_told_with_exit_code_2(command: Run, tmp_path: Path, arguments: list[str]):
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "good.json").write_text(json.dumps(exact_result()))
    done = command("report", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr and len(done.stderr) > 20


# -- in a browser ---------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def browser() -> str:
    """A Chromium; skips where there is none."""
    found = os.environ.get("EMDIAM_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium is installed (EMDIAM_BROWSER names one)")
    return found


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a night with everything in it."""
    return make_report([write_batch(tmp_path_factory.mktemp("batch"))], "html")[1]


def browse(browser: str, folder: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--disable-background-networking", "--enable-logging=stderr", *options, page.as_uri()],
        capture_output=True, text=True, timeout=PATIENCE)


# Looks at the finished page, and leaves what it has seen in the title.
PROBE = """<script>addEventListener("load", () => {
  document.querySelectorAll("details").forEach(part => { part.open = true; });
  const seen = [...document.querySelectorAll("figure svg")].map(svg => {
    const box = svg.getBoundingClientRect(), words = [...svg.querySelectorAll("text")];
    const inside = word => { const at = word.getBoundingClientRect();
      return at.width > 0 && at.left >= box.left - 1 && at.right <= box.right + 1 && at.bottom <= box.bottom + 1; };
    return [Math.round(box.width), Math.round(box.height), words.length, words.filter(inside).length,
            svg.querySelectorAll("path, use").length,
            Math.min(...words.map(word => word.getBoundingClientRect().height))];
  });
  document.title = JSON.stringify({seen, wide: document.documentElement.scrollWidth, inner: innerWidth});
});</script>"""


@pytest.mark.parametrize("width", [1200, 500])
def test_a_browser_shows_every_plot_and_complains_of_nothing(browser: str, night: str, tmp_path: Path, width: int):
    page = tmp_path / "report.html"
    page.write_text(night)
    window = f"--window-size={width},900"
    plain = browse(browser, tmp_path, page, window, "--dump-dom")
    assert plain.returncode == 0 and "CONSOLE" not in plain.stderr, plain.stderr
    # The page forbids scripts, so the one that looks at it needs another policy.
    text = page.read_text()
    page.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</head>", PROBE +
                                                                                                  "</head>"))
    done = browse(browser, tmp_path, page, window, "--dump-dom")
    assert "CONSOLE" not in done.stderr, done.stderr
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    found = json.loads(title.group(1))
    assert found["wide"] <= found["inner"]  # wide tables and plots scroll by themselves
    assert len(found["seen"]) == text.count("<figure ") >= 7
    for wide, high, words, shown, marks, letters in found["seen"]:
        assert wide >= 300 and high >= 90 and shown == words >= 4 and marks >= 10 and letters >= 9


# In a frame, since a window of a browser has a least width. Tells its page the height, and which words of a plot cover
# each other, which tables are cut.
FRAME_PROBE = """<script>addEventListener("load", () => {
  const faults = [...document.querySelectorAll(".wide")].filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => "cut: " + one.textContent.slice(0, 30));
  document.querySelectorAll("svg").forEach(svg => {
    const words = [...svg.querySelectorAll("text")].filter(word => word.checkVisibility({contentVisibilityAuto: true}));
    const boxes = words.map(word => word.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
        faults.push(words[i].textContent + " over " + words[j].textContent); }));
  });
  parent.postMessage(JSON.stringify({height: document.documentElement.scrollHeight, inner: innerWidth, faults}), "*");
});</script>"""


@pytest.mark.parametrize("width", [420, 800, 1400])
@pytest.mark.parametrize("write", [write_batch, write_long_night])
def test_a_night_is_short_and_whole_at_every_width(
        browser: str, tmp_path: Path, width: int, write: Callable[[Path], Path]):
    text = make_report([write(tmp_path / "night")], "html")[1]
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    (tmp_path / "report.html").write_text(text.replace("</head>", FRAME_PROBE + "</head>"))
    outer = tmp_path / "outer.html"
    outer.write_text(f'<iframe src="report.html" style="width: {width}px; height: 900px; border: 0"></iframe>'
                     "<script>onmessage = told => { document.title = told.data; }</script>")
    done = browse(browser, tmp_path, outer, "--window-size=1600,1000", "--virtual-time-budget=3000", "--dump-dom")
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None, done.stderr
    found = json.loads(title.group(1))
    assert found["inner"] == width and found["faults"] == [] and found["height"] <= 3000


def test_a_script_in_a_page_does_not_run(browser: str, night: str, tmp_path: Path):
    """The policy holds even where escaping would fail; and the test above would notice a complaint."""
    page = tmp_path / "report.html"
    page.write_text(night.replace("</main>", "<script>document.title = 'run'</script></main>"))
    done = browse(browser, tmp_path, page, "--dump-dom")
    assert "<title>emdiam report</title>" in done.stdout
    assert "CONSOLE" in done.stderr
