"""The id of a repository: one for all of its worktrees and clones."""

from pathlib import Path

import pytest

from tiermem.dialogue.repository import repository_of

CONFIG = (
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*\n[branch "main"]\n'
)


def make_repository(path: Path, url: str | None = None) -> Path:
    git = path / ".git"
    git.mkdir(parents=True)
    (git / "config").write_text(CONFIG.format(url=url) if url else "[core]\n\tbare = false\n")
    return path


def make_worktree(repository: Path, path: Path) -> Path:
    own = repository / ".git" / "worktrees" / path.name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    path.mkdir(parents=True)
    (path / ".git").write_text(f"gitdir: {own}\n")
    return path


@pytest.mark.parametrize("url", [None, "git@github.com:ann/loom.git"])
def test_a_worktree_and_a_folder_are_of_their_repository(tmp_path: Path, url: str | None) -> None:
    main = make_repository(tmp_path / "loom", url)
    tree = make_worktree(main, tmp_path / "trees" / "fix")
    (main / "src" / "deep").mkdir(parents=True)
    ids = {repository_of(str(path)) for path in (main, tree, main / "src" / "deep", main / "gone" / "since")}
    assert len(ids) == 1
    assert None not in ids


def test_clones_are_one_repository_however_the_remote_is_written(tmp_path: Path) -> None:
    urls = [
        "git@github.com:ann/loom.git",
        "https://github.com/ann/loom",
        "https://ann:secret-token@GitHub.com/ann/loom.git",
        "ssh://git@github.com:22/ann/loom.git",
    ]
    clones = [make_repository(tmp_path / str(number), url) for number, url in enumerate(urls)]
    ids = {repository_of(str(clone)) for clone in clones} | {repository_of(None, url) for url in urls}
    assert len(ids) == 1


def test_repositories_of_one_folder_name_are_two(tmp_path: Path) -> None:
    ids = {repository_of(str(make_repository(tmp_path / one / "app"))) for one in "ab"}
    assert len(ids) == 2


@pytest.mark.parametrize(
    "directory", [None, "", "relative/path", "//server/share", "\\\\server\\share", "/\x00"]
)
def test_what_is_no_local_folder_is_of_no_repository(directory: str | None) -> None:
    assert repository_of(directory) is None
