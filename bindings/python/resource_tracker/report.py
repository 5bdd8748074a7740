"""The report as a page, and amounts of memory for people."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from os import PathLike
    from typing import Union


class Report(str):
    """A page of HTML that is complete in itself."""

    def browse(self) -> Report:
        """Show it in the browser, from a file that stays until the system clears its temporary ones.

        Returns:
            The report.
        """
        import tempfile
        import webbrowser

        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self)
        webbrowser.open("file://" + file.name)
        return self

    def save(self, filepath: Union[str, PathLike[str]]) -> Report:
        """Write it to a file.

        Args:
            filepath: Its path; a file that is there is replaced.

        Returns:
            The report.
        """
        with open(filepath, "w", encoding="utf-8") as file:
            file.write(self)
        return self

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own."""
        from html import escape

        return (f'<iframe srcdoc="{escape(self, quote=True)}" sandbox="allow-scripts" '
                'style="width: 100%; height: 800px; border: 0" title="Resource report"></iframe>')


def round_memory(mb: Union[int, float]) -> int:
    """The next amount of memory that servers come with.

    Args:
        mb: An amount in MiB.

    Returns:
        128, 256, 512, 1024, 2048, or as many whole GiB as are needed, in MiB.

    Example:
        >>> round_memory(68), round_memory(896), round_memory(3863)
        (128, 1024, 4096)
    """
    for step in (128, 256, 512, 1024, 2048):
        if mb <= step:
            return step
    return int(-(-mb // 1024) * 1024)
