"""The package as it is installed: metadata, files, scripts, and what an import costs."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import emdiam as package
from tests.conftest import ROOT
from tests.helpers.source import nodes_of

HEAVY = ("numpy", "numba", "zarr", "pyarrow", "scipy", "networkx", "rich", "ctypes.util")
SCRIPTS = ("scripts/quickstart", "scripts/test", "scripts/docs", "scripts/make_venv", "scripts/find_python", ".ci/run")


def modules_after(code: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after running `code`."""
    done = subprocess.run([sys.executable, "-c", code + "\nimport sys\nprint(*sys.modules)"],
                          capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def setup_cfg() -> ConfigParser:
    """The package's setup.cfg."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config


def test_import_is_light():
    assert modules_after("import emdiam; emdiam.__version__; emdiam.InputError").isdisjoint(HEAVY)


def test_every_public_name_can_be_had():
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(dir(package)) == set(package.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'diametre'"):
        _ = package.diametre


def test_the_version_is_the_installed_one():
    assert metadata.version("emdiam") == package.__version__


def test_the_console_script_is_the_command():
    (script,) = [e for e in metadata.entry_points(group="console_scripts") if e.name == "emdiam"]
    assert script.value == "emdiam.__main__:main"


def required() -> set[str]:
    """Names of the packages that every installation has, as they are imported."""
    return {requirement.split(">")[0] for requirement in setup_cfg()["options"]["install_requires"].split()}


def test_the_extras_are_declared():
    assert {"cuda", "dask", "delaunay", "docs", "test", "bench"} <= set(setup_cfg()["options.extras_require"])


def test_the_table_of_dependencies_has_them_all():
    """Requirements and extras, each with what it costs."""
    table = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    always, extras = table.split("## Extras")
    assert required() <= set(re.findall(r"^\| (\S+) \| [0-9.]+ \|", always, re.MULTILINE))
    named = {name for row in re.findall(r"^\| (`.+?) \|", extras, re.MULTILINE) for name in re.findall(r"`(\S+)`", row)}
    assert named == {*setup_cfg()["options.extras_require"], "emdiam[...]"}


def test_every_folder_of_the_package_is_a_package():
    folders = {path.parent for path in (ROOT / "emdiam").rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def imported_packages(folder: Path) -> set[str]:
    """Top-level names of what the Python files below `folder` import."""
    import ast

    names: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    return names


def test_requirements_are_those_that_are_imported():
    """Everything imported is required (or an extra), and everything required is imported."""
    base = required()
    imported = imported_packages(ROOT / "emdiam") - set(sys.stdlib_module_names) - {"emdiam"}
    # Extras, and libraries whose graphs are taken; llvmlite comes with numba, botocore with boto3.
    optional = {"cupy", "fsspec", "pcodec", "matplotlib", "obstore", "boto3", "dask", "distributed", "scipy"}
    optional |= {"llvmlite", "botocore", "networkx", "igraph", "networkit", "pandas", "polars", "h5py", "pydot",
                 "IPython"}
    assert imported - base - optional == set()
    assert base - imported == set()


def text_of(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_and_date_are_the_same_everywhere():
    """As RELEASING.md says: package, changes, citation and conda recipe."""
    release = re.search(r"^## (\d\S*) - (\d{4}-\d\d-\d\d)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert release is not None and release[1] == package.__version__
    citation = text_of("CITATION.cff")
    assert re.findall(r"^(?:version|date-released): (\S+)$", citation, re.MULTILINE) == list(release.groups())
    assert f'version: "{release[1]}"' in text_of("scripts/conda/recipe.yaml")


def test_what_describes_the_project_says_the_same():
    """codemeta.json beside setup.cfg and CITATION.cff; addresses follow from one place, and none is a placeholder."""
    record, metadata_of = json.loads(text_of("codemeta.json")), setup_cfg()["metadata"]
    release = re.search(r"^date-released: (\S+)$", text_of("CITATION.cff"), re.MULTILINE)
    assert (record["name"], record["version"], record["description"]) == (
        "emdiam", package.__version__, metadata_of["description"])
    assert release is not None and record["dateModified"] == release[1]
    assert set(record["keywords"]) == set(metadata_of["keywords"].strip().splitlines())
    assert record["author"][0]["name"] == metadata_of["author"] and metadata_of["license"] in record["license"]
    setup = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")
    assert setup["project_urls"]("https://example.org/emdiam") == {}
    assert setup["project_urls"]("https://host/emdiam")["Issues"] == "https://host/emdiam/issues"


def test_the_paper_is_short_and_cites_what_it_has():
    text, references = text_of("paper/paper.md"), text_of("paper/paper.bib")
    body = text.split("---\n", 2)[2]
    assert 400 < len(body.split()) <= 1000
    known = re.findall(r"^@\w+\{(\w+),$", references, re.MULTILINE)
    assert len(known) == len(set(known)) and set(re.findall(r"@(\w+)", body)) == set(known)
    assert references.count("{") == references.count("}")


def test_the_conda_recipe_requires_what_setup_cfg_does():
    run = text_of("scripts/conda/recipe.yaml").split("  run:\n")[1].split("\n\n")[0]
    requires = {line.strip(" -").replace(" ", "") for line in run.splitlines()} - {"__linux"}
    options = setup_cfg()["options"]
    assert requires == {*options["install_requires"].split(), f"python{options['python_requires']}"}


def test_the_workflow_tests_the_pythons_that_are_named():
    names = re.findall(r"Python :: (3\.\d+)", setup_cfg()["metadata"]["classifiers"])
    (matrix,) = re.findall(r"python: \[(.*)\]", text_of(".github/workflows/tests.yml"))
    assert matrix == ", ".join(f'"{name}"' for name in names)
    assert setup_cfg()["options"]["python_requires"] == f">={names[0]}"


def test_changes_have_two_lines_at_most() -> None:
    text = text_of("CHANGELOG.md")
    entries = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
    assert len(entries) > 50 and [entry for entry in entries if entry.count("\n") > 1] == []
    assert [line for line in text.splitlines() if len(line) > 120] == []


def test_settings_of_the_host_can_be_read() -> None:
    """Workflows have jobs with steps, templates of issues have fields, and hooks run what the tests install."""
    github = ROOT / ".github"
    for workflow in (github / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
        assert jobs and all(job["steps"] and job["timeout-minutes"] for job in jobs.values()), workflow.name
    for template in ("fault.yml", "wish.yml"):
        form = yaml.safe_load((github / "ISSUE_TEMPLATE" / template).read_text(encoding="utf-8"))
        assert form["name"] and any(part["type"] == "textarea" for part in form["body"])
    (local,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local" and {hook["language"] for hook in local["hooks"]} == {"system"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_executable_and_well_formed(name: str):
    script = ROOT / name
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!")
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_old_python_is_named(tmp_path: Path):
    """find_python tries $PYTHON alone and says what to do when it is too old."""
    old = tmp_path / "oldpython"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run([ROOT / "scripts" / "find_python"], capture_output=True, text=True,
                          env={**os.environ, "PYTHON": str(old)})
    assert done.returncode == 2
    assert "needs Python 3.11 or newer" in done.stderr


def test_quickstart_refuses_a_missing_file_before_installing(tmp_path: Path):
    done = subprocess.run([ROOT / "scripts" / "quickstart", "no-such-file"], capture_output=True, text=True,
                          cwd=tmp_path)
    assert done.returncode == 2
    assert "no-such-file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def copied_tree(target: Path) -> Path:
    """The files of the repository that a clone would have."""
    skipped = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*.egg-info", "build", "*.zarr*",
                                     ".*_cache", "dist", "site")
    return Path(shutil.copytree(ROOT, target, ignore=skipped))


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_the_licence(tmp_path: Path):
    tree = copied_tree(tmp_path / "tree")
    kernel = tree / "emdiam" / "objects" / "x86-64-v2" / "0123456789abcdef" / "kernel.0123.o"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"a kernel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, tree],
        check=True)
    (wheel,) = tmp_path.glob("emdiam-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    sources = {str(path.relative_to(tree)) for path in (tree / "emdiam").rglob("*.py")}
    for pattern in ("templates/*", "*.ll"):
        sources |= {str(path.relative_to(tree)) for path in (tree / "emdiam").rglob(pattern)}
    assert sources <= set(names)
    assert {"emdiam/py.typed", str(kernel.relative_to(tree))} <= set(names)
    assert any(name.endswith("LICENSE") for name in names)
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.slow
def test_a_source_distribution_is_complete_and_its_tests_run(tmp_path: Path):
    """It has every file of the repository, and some tests of every kind run from it."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: which files belong to it is not known")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    tree = copied_tree(tmp_path / "tree")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", tmp_path / "tools", "build"],
                   check=True)
    subprocess.run([sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, tree], check=True,
                   env={**os.environ, "PYTHONPATH": str(tmp_path / "tools")})
    (archive,) = tmp_path.glob("emdiam-*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    assert [name for name in listed if not (unpacked / name).is_file()] == []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "not examples", "tests/test_packaging.py",
         "tests/test_imports.py", "tests/test_docs.py", "tests/formats/test_streams.py",
         "tests/bench/test_scaling_model.py"],
        cwd=unpacked, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(unpacked)})
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_site_of_the_documents_is_built_strictly(tmp_path: Path):
    tree = copied_tree(tmp_path / "tree")
    done = subprocess.run([tree / "scripts" / "docs", tmp_path / "site"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    reference = (tmp_path / "site" / "docs" / "python-reference.html").read_text(encoding="utf-8")
    assert "witness" in reference and ":::" not in reference


@pytest.mark.slow
def test_the_quickstart_works_on_a_fresh_tree_and_again(tmp_path: Path):
    """From another folder, with a file, twice; without the environment that runs this test."""
    tree = copied_tree(tmp_path / "tree")
    edges = tmp_path / "edges.txt"
    edges.write_text("".join(f"{i} {i + 1}\n" for i in range(100)))
    clean = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    for _ in range(2):
        done = subprocess.run([tree / "scripts" / "quickstart", edges], cwd=tmp_path, env=clean, text=True,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        assert "diameter: 100" in done.stdout
        assert re.search(r"kernels: \d+ ready after 7 of 7 commands", done.stdout)


@pytest.mark.slow
def test_make_venv_repairs_a_broken_environment(tmp_path: Path):
    folder = tmp_path / "env"
    venv.create(folder, with_pip=False)
    (folder / "bin" / "python").unlink()
    subprocess.run([ROOT / "scripts" / "make_venv", folder, "click"], check=True)
    done = subprocess.run([folder / "bin" / "python", "-c", "import click"])
    assert done.returncode == 0


def test_tools_of_the_site_are_pinned():
    """A later release may refuse a page that this one takes."""
    tools = setup_cfg()["options.extras_require"]["docs"].split()
    assert len(tools) >= 4 and all(re.fullmatch(r"[a-z-]+==\d+(\.\d+)+", tool) for tool in tools), tools
