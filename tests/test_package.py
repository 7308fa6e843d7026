"""The installed package, also next to folders with the same names as its packages."""

import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.project import PACKAGES, ROOT, copy_sources, source_files

COMMAND = Path(sys.executable).parent / "ravenlab"
DATA = {".toml", ".json", ".csv", ".j2", ".css", ".js"}
CHILDREN = resource.RUSAGE_CHILDREN
PLAIN = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
"""Environment variables of a new user."""

UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}
"""For tests of imports: another folder of sources would be compiled again."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all files that git tracks, with the links in ravenlab/."""
    folder = tmp_path_factory.mktemp("clone")
    listed = run("git", "ls-files", "-z", folder=ROOT)
    names = listed.stdout.split("\0")[:-1] if listed.returncode == 0 else []
    for name in names or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    for link in find_links(ROOT):
        target = folder / link.relative_to(ROOT)
        if not target.is_symlink():
            target.symlink_to(link.readlink())
    return folder


@pytest.fixture(scope="module")
def built(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of a clone and the wheel built from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    build(clone, folder)
    return folder


def find_links(folder: Path) -> list[Path]:
    return [path for path in (folder / "ravenlab").iterdir() if path.is_symlink()]


def run(*words: str | Path, folder: Path | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, **more)


def build(source: Path, folder: Path, *options: str) -> None:
    words = [*options, "--outdir", str(folder), str(source)]
    done = run(sys.executable, "-m", "build", "--no-isolation", *words)
    assert done.returncode == 0, done.stdout + done.stderr


def list_wheel(folder: Path) -> set[str]:
    (wheel,) = folder.glob("ravenlab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_contains_the_packages_and_no_tests(built: Path) -> None:
    names = list_wheel(built)
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"ravenlab"}
    assert "ravenlab/py.typed" in names
    sources = [path for path in source_files() if path.parts[0] != "ravenlab"]
    data = [path.relative_to(ROOT) for path in (ROOT / "studies").rglob("*.*") if path.suffix in DATA]
    assert len(data) >= 9
    assert {f"ravenlab/{path.as_posix()}" for path in [*sources, *data]} <= names


def test_clone_without_links_is_installed_completely(clone: Path, built: Path, tmp_path: Path) -> None:
    """The wheel of a clone with links, which was built from the sdist, and that of one without have the same files."""
    assert len(find_links(clone)) == len(PACKAGES) - 1
    plain = tmp_path / "plain"
    shutil.copytree(clone, plain, symlinks=True, ignore=shutil.ignore_patterns("docs", "tests", "tools"))
    for link in find_links(plain):
        link.unlink()
    build(plain, tmp_path, "--wheel")
    assert list_wheel(tmp_path) == list_wheel(built)


def test_sdist_contains_the_files_needed_by_the_tests(built: Path) -> None:
    (sdist,) = built.glob("ravenlab-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "CONTRIBUTING.md", "SECURITY.md", "docs/README.md"} <= names
    test_files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")}
    assert test_files <= names


def environment_without_project() -> dict[str, str]:
    """Return the environment of a process that must not import from this folder."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def check_first_steps(python: Path, folder: Path, study: bool) -> None:
    """Run the first commands of a new user in an environment with only the wheel."""

    def printed(*words: str) -> str:
        done = run(python.parent / "ravenlab", *words, folder=folder, env=PLAIN)
        assert done.returncode == 0, done.stderr
        return done.stdout

    code = "from ravenlab import tuning; print(tuning.__file__)"
    assert str(python.parent.parent) in run(python, "-c", code, folder=folder, env=environment_without_project()).stdout
    assert "ravenlab" in printed("--version")
    assert "variance-drift" in printed("list", "scenarios")
    printed("init", "mine.toml")
    assert "mine.toml" in printed("validate", "mine.toml")
    assert "200 trials" in printed("tune", "--study=mine.toml", "--dry-run")
    if not study:
        return
    sizes = ["--trials=4", "--replications=10", "--selection=20", "--report=20", "--horizon=100"]
    printed("tune", "blips", *sizes, "--quiet")
    assert '"alpha0"' in printed("export")
    printed("report")
    assert (folder / "report.html").stat().st_size > 100_000


@pytest.fixture(scope="module", params=["*.whl", pytest.param("*.tar.gz", marks=pytest.mark.stress)])
def installed(request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a new environment with the wheel or the sdist, and the dependencies of this environment."""
    (package,) = built.glob(f"ravenlab-{request.param}")
    folder = tmp_path_factory.mktemp("new")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    # The dependencies may include an installation of this project, which must be left alone.
    words = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", str(package)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    done = run(*pip, *words, folder=folder, env=environment_without_project())
    assert done.returncode == 0, done.stderr
    return python


def test_package_works_in_a_separate_environment(installed: Path, tmp_path: Path) -> None:
    """Uses the dependencies of this environment; `make stress` installs all of them."""
    check_first_steps(installed, tmp_path, study=False)


@pytest.mark.parametrize("order", ["{mine}; {ours}", "{ours}; {mine}"])
def test_installed_package_is_beside_a_project_with_the_same_names(installed: Path, order: str, tmp_path: Path) -> None:
    """A project of the user has its own `policies`, `environments`, …, imported before or after ravenlab."""
    code = write_project(tmp_path, order) + "; print(ravenlab.__file__)"
    done = run(installed, "-c", code, folder=tmp_path, env={**environment_without_project(), **UNCOMPILED})
    first, second = done.stdout.splitlines() or [done.stderr, ""]
    assert first == "True ravenlab.policies", done.stderr
    assert Path(second).is_relative_to(installed.parent.parent)


def write_project(folder: Path, order: str) -> str:
    """Write packages with the names of ours; return code that imports them and ravenlab in the given order."""
    for name in PACKAGES[1:]:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = True\n")
    mine = f"import {', '.join(PACKAGES[1:])}; from policies import MINE"
    ours = "import ravenlab; (ravenlab.simulate, ravenlab.report, ravenlab.tune, ravenlab.RavenUCB(arms=2).select())"
    alone = f"assert all(package.MINE for package in ({', '.join(PACKAGES[1:])}))"
    return f"{order.format(mine=mine, ours=ours)}; {alone}; print(MINE, ravenlab.policies.__name__)"


def list_pythons() -> list[str]:
    """List the supported versions of Python that are installed, also by pyenv: the names of their executables."""
    folders = sorted(Path.home().glob(".pyenv/versions/*/bin"))
    path = os.pathsep.join([os.environ["PATH"], *map(str, folders)])
    found = [shutil.which(f"python3.{minor}", path=path) for minor in range(11, 15)]
    return [name for name in found if name is not None]


def list_lowest() -> list[str]:
    """List the lowest versions of the dependencies that pyproject.toml allows, as constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    words = [*project["dependencies"], *project["optional-dependencies"]["parquet"]]
    lowest = []
    for requirement in map(Requirement, words):
        (version,) = [limit.version for limit in requirement.specifier if limit.operator == ">="]
        lowest.append(f"{requirement.name}=={version}")
    return lowest


def list_installations() -> list[tuple[str, str, str]]:
    """List versions of Python, packages and versions of the dependencies; the lowest are those for the first Python."""
    first, *others = list_pythons()
    chosen = [("*.whl", "pinned"), ("*.whl", "newest")]
    listed = [(python, kind, versions) for python in [first, *others] for kind, versions in chosen]
    return [*listed, (first, "*.tar.gz", "pinned"), (first, "*.whl", "lowest")]


@pytest.mark.stress
@pytest.mark.parametrize(("interpreter", "kind", "versions"), list_installations())
def test_package_installs_into_an_empty_environment(
    interpreter: str, kind: str, versions: str, built: Path, tmp_path: Path
) -> None:
    (package,) = built.glob(f"ravenlab-{kind}")
    subprocess.run([interpreter, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    constraints = tmp_path / "constraints.txt"
    pinned = (ROOT / "constraints.txt").read_text()
    constraints.write_text({"pinned": pinned, "lowest": "\n".join(list_lowest()), "newest": ""}[versions])
    extras = "parquet" if versions == "lowest" else "cluster,postgres,images,parquet"
    words = ["--quiet", "--constraint", str(constraints), f"{package}[{extras}]"]
    subprocess.run([python, "-m", "pip", "install", *words], check=True)
    check_first_steps(python, tmp_path, study=True)


@pytest.mark.parametrize("command", [[str(COMMAND)], [sys.executable, "-m", "ravenlab"]])
def test_user_folders_with_package_names_are_ignored(command: list[str], tmp_path: Path) -> None:
    for name in ("policies", "studies", "environments"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('wrong package')")
    (tmp_path / "tuning").mkdir()
    for environment in ({}, {"PYTHONPATH": str(tmp_path)}):
        done = run(*command, "list", "policies", "--json", folder=tmp_path, env={**PLAIN, **environment})
        assert done.returncode == 0, done.stderr
        assert '"raven-ucb"' in done.stdout


def test_clone_in_the_current_folder_does_not_shadow_the_package(tmp_path: Path) -> None:
    """After cloning, the current folder contains a folder called ravenlab."""
    (tmp_path / "ravenlab").mkdir()
    code = "import ravenlab; print(ravenlab.RavenUCB(arms=2))"
    done = run(sys.executable, "-c", code, folder=tmp_path, env={**os.environ, **UNCOMPILED})
    assert done.stdout.startswith("RavenUCB(arms=2, alpha0=1.0"), done.stderr


@pytest.mark.parametrize("order", ["{mine}; {ours}", "{ours}; {mine}"])
def test_packages_of_a_user_have_the_same_names(order: str, tmp_path: Path) -> None:
    """A project of the user has its own `policies`, `environments`, …, imported before or after ravenlab."""
    code = write_project(tmp_path, order)
    done = run(sys.executable, "-c", code, folder=tmp_path, env={**os.environ, **UNCOMPILED})
    assert done.stdout == "True ravenlab.policies\n", done.stderr


def test_a_copy_without_links_works(tmp_path: Path) -> None:
    """An archive, or a clone on a file system without links, lacks the links in ravenlab/."""
    folder = copy_sources(tmp_path)
    for link in find_links(folder):
        link.unlink()
    code = "import ravenlab.policies; print(ravenlab.policies.__file__, ravenlab.RavenUCB(arms=2).select())"
    done = run(sys.executable, "-c", code, folder=folder, env={**os.environ, **UNCOMPILED})
    assert done.stdout == f"{folder}/policies/__init__.py 0\n", done.stderr


def test_help_takes_little_cpu_time() -> None:
    """The limit applies to the fastest of five runs."""
    cpu_seconds = []
    for _ in range(5):
        before = resource.getrusage(CHILDREN)
        done = run(COMMAND, "--help")
        after = resource.getrusage(CHILDREN)
        assert done.returncode == 0
        assert "simulate" in done.stdout
        cpu_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(cpu_seconds) < 0.3


def test_help_imports_no_heavy_module() -> None:
    heavy = {"numpy", "numba", "pandas", "joblib", "pydantic"}
    code = f"import sys, ravenlab.tuning.cli.app; print(sorted({heavy} & set(sys.modules)))"
    done = run(sys.executable, "-c", code, folder=ROOT)
    assert done.stdout.strip() == "[]"
