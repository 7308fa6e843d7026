"""The recording of `ravenlab play` for the README, as an animated WebP file: python -m tools.recording.

Chromium takes the screenshots and compresses each of them, without loss, to the pixels that differ from the one before.
The frames are then put into one file, so no other encoder is needed.
"""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.dashboards.browser import find_browser, launch_browser
from tests.project import DOCS
from tools.docs.play_example import write_example

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RECORDING = DOCS / "images" / "play.webp"
WIDTH = 1000
QUALITY = 0.9  # of the frames while it plays; the first and the last ones are compressed without loss
FRAMES = 84  # while it plays
FRAME_MILLISECONDS = 80
PAUSE_MILLISECONDS = 700  # at the end
RECOVERY_MILLISECONDS = 2400  # with the steps to recover from the last change

STYLE = """
body.playing main { padding: 0; max-width: none; }
.top, .world, .controls, .top + main section + section, .skip { display: none !important; }
.recovery.empty { visibility: hidden; }
.plots { border: 0 !important; border-radius: 0 !important; padding: 1rem 0 0.6rem 1.2rem !important; }
"""
"""Only the plots are recorded, as wide as the window."""

COMPRESS = """async ([png, quality, whole]) => {
    const image = await createImageBitmap(await (await fetch(png)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const now = context.getImageData(0, 0, image.width, image.height), before = whole ? undefined : window.before;
    window.before = new Uint32Array(now.data.slice().buffer);
    let box = [image.width, image.height, 0, 0];
    const pixels = new Uint32Array(now.data.buffer);
    for (let y = 0, i = 0; y < image.height; y++) for (let x = 0; x < image.width; x++, i++) {
        if (before && before[i] === pixels[i]) pixels[i] = 0;
        else box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x + 1), Math.max(box[3], y + 1)];
    }
    if (!box[2]) return null;
    const [left, top] = [box[0] & ~1, box[1] & ~1], part = new OffscreenCanvas(box[2] - left, box[3] - top);
    part.getContext("2d").putImageData(now, -left, -top);
    const bytes = new Uint8Array(await (await part.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return [left, top, part.width, part.height, btoa(text)];
}"""
"""Returns the rectangle that differs from the screenshot before, as a WebP image: equal pixels are transparent."""


@dataclass
class Frame:
    """A rectangle of changed pixels, and for how long it is shown."""

    left: int
    top: int
    width: int
    height: int
    image: bytes
    milliseconds: int


def take_frames(page: Page, encoder: Page) -> Iterator[Frame]:
    """Play the page step by step; at the end, select the last change."""
    last = int(page.locator("#at").get_attribute("max") or 0)
    frame: Frame | None = None
    steps = [round(last * number / (FRAMES - 1)) for number in range(FRAMES)]
    for number, at in enumerate([*steps, None]):
        if at is None:
            page.locator("#changes button").last.dispatch_event("click")
        else:
            page.locator("#at").evaluate(
                "(at, value) => { at.value = value; at.dispatchEvent(new Event('input')); }", at
            )
        png = base64.b64encode(page.screenshot(animations="disabled")).decode()
        still = number in (0, FRAMES - 1, FRAMES)
        quality = 1.0 if still else QUALITY
        changed = encoder.evaluate(COMPRESS, [f"data:image/png;base64,{png}", quality, number in (0, FRAMES - 1)])
        milliseconds = {FRAMES - 1: PAUSE_MILLISECONDS, FRAMES: RECOVERY_MILLISECONDS}.get(number, FRAME_MILLISECONDS)
        if changed is None and frame is not None:
            frame.milliseconds += milliseconds
            continue
        if frame is not None:
            yield frame
        left, top, width, height, image = changed
        frame = Frame(left, top, width, height, base64.b64decode(image), milliseconds)
    if frame is not None:
        yield frame


def write_animation(frames: Sequence[Frame]) -> bytes:
    """Put frames into an animated WebP file that repeats; the first one has the size of the picture.

    The format is that of https://developers.google.com/speed/webp/docs/riff_container.
    """
    first = frames[0]
    chunks = [_chunk(b"VP8X", struct.pack("<B3x", 0x12) + _size(first.width, first.height))]
    chunks.append(_chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0)))
    for frame in frames:
        place = _three_bytes(frame.left // 2) + _three_bytes(frame.top // 2) + _size(frame.width, frame.height)
        header = place + _three_bytes(frame.milliseconds) + b"\0"  # drawn over the frame before
        chunks.append(_chunk(b"ANMF", header + _image_chunks(frame.image)))
    return _chunk(b"RIFF", b"WEBP" + b"".join(chunks))


def _image_chunks(still: bytes) -> bytes:
    """Return the chunks of pixels of a still WebP file."""
    kept = b""
    place = 12
    while place < len(still):
        name, size = struct.unpack_from("<4sI", still, place)
        if name in (b"VP8L", b"VP8 ", b"ALPH"):
            kept += _chunk(name, still[place + 8 : place + 8 + size])
        place += 8 + size + size % 2
    return kept


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _three_bytes(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _size(width: int, height: int) -> bytes:
    return _three_bytes(width - 1) + _three_bytes(height - 1)


def record(browser: Browser, path: Path) -> bytes:
    """Record the plots of a page."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 600}, color_scheme="light")
    encoder = browser.new_page()
    page.goto(path.as_uri())
    page.add_style_tag(content=STYLE)
    height: int = page.evaluate("document.querySelector('#plots').offsetHeight")
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    return write_animation(list(take_frames(page, encoder)))


def main() -> None:
    """Save the recording."""
    path = find_browser()
    if path is None:
        sys.exit("Chromium is required (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as name, launch_browser(path) as browser:
        RECORDING.write_bytes(record(browser, write_example(Path(name) / "play.html")))
    print(f"{RECORDING}: {RECORDING.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
