"""Tables of values in a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ariel_lite.cli.layout import cut, one_line, safe
from ariel_lite.cli.output import Output

CELL_COLUMNS = 300


def print_table(output: Output, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their columns' names; long cells are cut, wide tables fold inside their cells."""
    table = Table(box=box.ASCII2, show_edge=False, pad_edge=False, header_style="")
    for name in names:
        table.add_column(Text(safe(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cut(one_line(cell), CELL_COLUMNS)) for cell in row))
    drawing = io.StringIO()
    Console(file=drawing, width=output.width, color_system=None, legacy_windows=False).print(table)
    for line in drawing.getvalue().splitlines():
        output.line(line)
