"""Progress bars in notebooks: the same bars as on a terminal, in an output that is updated in place."""

import io
import time
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn, TaskID

WIDTH = 100  # characters
INTERVAL = 0.2  # minimum number of seconds between updates

FRAME = '<pre style="line-height:1.3;margin:0;white-space:pre;overflow-x:auto">{code}</pre>'


class NotebookBars(Progress):
    """Bars that are rendered to HTML instead of the terminal; `start` creates the output, `stop` leaves it there."""

    def __init__(self, *columns: ProgressColumn) -> None:
        self.printed = io.StringIO()
        console = Console(file=self.printed, width=WIDTH, force_jupyter=False, force_terminal=False)
        super().__init__(*columns, console=console, auto_refresh=False)
        self.output: Any = None
        self.refreshed = 0.0

    def start(self) -> None:
        """Create the output."""
        from IPython.display import display

        self.output = display(self.content(), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """Show the final state."""
        self.refresh()
        self.output = None

    def refresh(self) -> None:
        """Update the output."""
        if self.output is not None:
            self.output.update(self.content(), raw=True)
            self.refreshed = time.monotonic()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change a bar, and update the output unless that happened just before."""
        super().update(task_id, **changes)
        if time.monotonic() - self.refreshed > INTERVAL:
            self.refresh()

    def content(self) -> dict[str, str]:
        """Render printed lines and bars as text and as HTML."""
        console = Console(
            file=io.StringIO(),
            record=True,
            width=WIDTH,
            color_system="truecolor",
            force_jupyter=False,
            force_terminal=False,
        )
        if self.printed.getvalue():
            console.print(self.printed.getvalue().rstrip("\n"), markup=False, highlight=False, soft_wrap=True)
        if self.tasks:
            console.print(self.get_renderable())
        plain = console.export_text(clear=False, styles=False)
        return {
            "text/plain": "\n".join(line.rstrip() for line in plain.splitlines()),
            "text/html": console.export_html(inline_styles=True, code_format=FRAME),
        }
