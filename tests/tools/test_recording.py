"""The recording of `ravenlab play` is an animated WebP file of a size and length for a README."""

import struct
from collections.abc import Iterator

from tools.recording import FRAME_MILLISECONDS, FRAMES, RECORDING, WIDTH, Frame, write_animation


def read_chunks(content: bytes, place: int = 12) -> Iterator[tuple[bytes, bytes]]:
    while place < len(content):
        name, size = struct.unpack_from("<4sI", content, place)
        yield name, content[place + 8 : place + 8 + size]
        place += 8 + size + size % 2


def number(content: bytes, place: int) -> int:
    return int.from_bytes(content[place : place + 3], "little")


def test_the_recording_is_small_and_repeats() -> None:
    content = RECORDING.read_bytes()
    assert len(content) < 1_000_000
    assert (content[:4], content[8:12]) == (b"RIFF", b"WEBP")
    assert struct.unpack_from("<I", content, 4)[0] == len(content) - 8
    (_, size), (_, animation), *frames = read_chunks(content)
    assert number(size, 4) + 1 == WIDTH
    assert animation[4:6] == b"\0\0"  # it repeats forever
    assert {name for name, _ in frames} == {b"ANMF"}
    assert len(frames) > FRAMES - 10
    milliseconds = [number(frame, 12) for _, frame in frames]
    assert 6_000 <= sum(milliseconds) <= 10_000
    assert min(milliseconds) == FRAME_MILLISECONDS


def test_frames_are_written_with_their_place_and_pixels() -> None:
    still = b"RIFF....WEBP" + b"VP8X" + struct.pack("<I", 10) + bytes(10) + b"VP8L" + struct.pack("<I", 3) + b"abc\0"
    frames = [Frame(0, 0, 40, 20, still, 80), Frame(6, 4, 10, 12, still, 500)]
    _, _, (_, first), (_, second) = read_chunks(write_animation(frames))
    assert [number(second, place) for place in (0, 3, 6, 9, 12)] == [3, 2, 9, 11, 500]
    assert first[16:] == second[16:] == b"VP8L" + struct.pack("<I", 3) + b"abc\0"
