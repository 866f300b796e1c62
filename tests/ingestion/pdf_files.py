"""Small PDFs, made by hand."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfWriter


def pdf(*pages: str) -> bytes:
    """A PDF with a page for each text (Latin letters, no brackets)."""
    return pdf_of([f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("latin-1") for text in pages])


def pdf_of(contents: Sequence[bytes], *, packed: bool = False) -> bytes:
    """A PDF of pages with these content streams."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(contents)}/Kids[{kids}]>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    streams = {content: zlib.compress(content) if packed else content for content in set(contents)}
    for number, content in enumerate(contents):
        stream = streams[content]
        how = "/Filter/FlateDecode" if packed else ""
        place = f"/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * number} 0 R"
        objects.append(f"<</Type/Page{place}>>".encode())
        objects.append(f"<</Length {len(stream)}{how}>>stream\n".encode() + stream + b"\nendstream")
    return _file(objects)


def encrypted(data: bytes, password: str) -> bytes:
    """A PDF that opens with a password only ("" opens for everyone)."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def _file(objects: Sequence[bytes]) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()
