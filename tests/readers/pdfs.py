"""Small PDFs, written by hand so that a test sees where every line stands."""

from collections.abc import Sequence

Text = tuple[float, float, float, str]
"""x, y, size, text."""


def pdf(pages: Sequence[Sequence[Text]], drawing: Sequence[Text] = ()) -> bytes:
    """A PDF of 600 × 800 points a page in Helvetica (sizes above 100 in Helvetica-Bold, less 100).

    `drawing` is text inside a form drawn on every page.
    """
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        _stream(
            drawing,
            b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources"
            b" << /Font << /F1 3 0 R /F2 4 0 R >> >>",
        ),
    ]
    kids = []
    for page in pages:
        kids.append(len(objects) + 1)
        draw = b"/D Do\n" if drawing else b""
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources"
            b" << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /D 5 0 R >> >> >>" % (kids[-1] + 1)
        )
        objects.append(_stream(page, b"", draw))
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    size, start = len(objects) + 1, out.rindex(b"xref")
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, start)


def _stream(texts: Sequence[Text], entries: bytes, before: bytes = b"") -> bytes:
    shown = b"".join(
        b"BT /F%d %g Tf %g %g Td (%s) Tj ET\n"
        % (1 + (size > 100), size % 100, x, y, text.encode("cp1252"))
        for x, y, size, text in texts
    )
    content = before + shown
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def column(x: float, top: float, lines: Sequence[str], size: float = 10) -> list[Text]:
    """Lines 12 points apart."""
    return [(x, top - 12 * number, size, line) for number, line in enumerate(lines)]
