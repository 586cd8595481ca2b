"""What the readers of texts share that have no mark of their own: a look at the first lines says how they are read."""

from __future__ import annotations

from collections.abc import Iterator

from .base import FileSource
from .counts import Counts, HeldPair, declared, with_counts
from .look import HELD, Reading, reading_of
from .look_header import COUNTS
from .source import EdgeBatch


class TextSource(FileSource):
    """A FileSource whose reading a look has found. counts : those of the first line, where the edges proved them; known
    after a complete pass."""

    takes_strings = takes_columns = takes_ends = takes_headers = True
    counts: Counts | None = None

    def look(self) -> Reading:
        """How the text is read, found once. Raises InputError."""
        if self.reading is None:
            self.reading = reading_of(self.input, self.wishes)
        return self.reading

    @property
    def more_ids(self) -> tuple[int, int] | None:
        """See SourceInfo."""
        return None if self.counts is None else self.counts.ids

    @property
    def said(self) -> str:
        """The reading in one sentence, and what became of counts in the first line."""
        reading = self.look()
        if self.counts is not None:
            first, last = self.counts.ids
            return (reading.why.replace("no header", self.counts.sentence) if reading.header == HELD else
                    f"{reading.why}; as it says, {self.counts.n:,} vertices: {first} to {last}")
        if reading.header == COUNTS:
            return f"{reading.why}; the counts add no vertices, as the edges do not prove them"
        return reading.why

    def _counted(self, batches: Iterator[EdgeBatch], reading: Reading) -> Iterator[EdgeBatch]:
        """The pairs without counts in the first line, which are kept if the edges prove them."""
        if reading.header == HELD:
            held = HeldPair(self.error, alone=len(reading.record) == 2)
            yield from held.passing(batches)
            self.counts = held.counts
        elif reading.header == COUNTS:
            counts = declared(reading.counts)
            yield from with_counts(counts, batches)
            self.counts = counts if counts.agree else None
        else:
            yield from batches
