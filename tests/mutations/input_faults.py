"""Faults of inputs of several files: lists of vertices, folders, streams, arrays, files of rows, addresses."""

from __future__ import annotations

from tests.mutations.fault import Fault

_LISTS, _NAMES = ("tests/formats/test_vertex_lists.py",), ("tests/conversion/test_names.py",)
_FOLDERS, _STREAMS = ("tests/formats/test_folders.py",), ("tests/formats/test_arrow_streams.py",)
_ROWS, _REMOTE = ("tests/formats/test_row_files.py",), ("tests/formats/test_remote_files.py",)

INPUT_FAULTS = (
    Fault("an edge whose vertex no list has is a vertex of a large number", "emdiam/conversion/names.py",
          "            if ids.max() >= TOP_BIT:\n", "            if ids.max() > 2 * TOP_BIT:\n", _LISTS),
    Fault("two ids of one name at the border of two blocks are taken", "emdiam/conversion/names.py",
          "twice = names[0].as_py() if names[0] == last else None", "twice = None", _NAMES),
    Fault("an id with two names is two vertices", "emdiam/conversion/names.py", "if n != n_distinct:",
          "if n < n_distinct:", _LISTS),
    Fault("as many vertices as a header says need not be listed", "emdiam/conversion/names.py",
          "self._n_declared is not None and n != self._n_declared", "False", _LISTS),
    Fault("numbers behind ids are names", "emdiam/formats/vertex_lists.py",
          "if all(is_number(row[1]) for row in rows if len(row) > 1):", "if not rows:", _LISTS),
    Fault("a list that changes is not seen", "emdiam/formats/base.py",
          "        for source in self._inputs:\n            source.watched", "        for source in self._inputs[:1]:\n"
          "            source.watched", _LISTS),
    Fault("parts come as the disk has them", "emdiam/formats/folders.py", "entries = sorted([*folders, *names])",
          "entries = sorted([*folders, *names], reverse=True)", _FOLDERS),
    Fault("parts with other columns are taken", "emdiam/formats/folders.py",
          "if columns and first.column_names and columns != first.column_names:", "if columns is None:", _FOLDERS),
    Fault("what a program has marked as its own is read", "emdiam/formats/folders.py",
          'if name.startswith(("_", ".")):', 'if name.startswith("_"):', _FOLDERS),
    Fault("rows behind the first record batch have the numbers of the first", "emdiam/formats/arrow_streams.py",
          "columns, done + begin, ends.kind", "columns, begin, ends.kind", _STREAMS),
    Fault("a record batch may be of any size", "emdiam/formats/arrow_streams.py",
          "if batch.nbytes > self.memory_bytes:", "if batch.nbytes > self.memory_bytes << 40:", _STREAMS),
    Fault("the first record batch is read twice", "emdiam/formats/arrow_streams.py",
          "return chain([first], self._with_rows(waiting))", "return chain([first, first], self._with_rows(waiting))",
          _STREAMS),
    Fault("weights of Galois follow without what fills up", "emdiam/formats/csr.py",
          "begin = layout.end + layout.padding", "begin = layout.end", _ROWS),
    Fault("rows of Galois begin with the second", "emdiam/formats/csr.py",
          "first = 0 if ends_alone else int(offsets.take(1)[0])", "first = int(offsets.take(1)[0])", _ROWS),
    Fault("a type of data is guessed", "emdiam/formats/csr.py", "if self.weights.column in kinds:",
          "if self.weights.column in (*kinds, ''):", _ROWS),
    Fault("more words than a header says are left", "emdiam/formats/adjacency_graph.py",
          "if n_words != header.n_words:", "if n_words < header.n_words:", _ROWS),
    Fault("neighbours of a text are read on to the weights", "emdiam/formats/adjacency_graph.py",
          "return _Part(stream, ends[1] - ends[0])", "return _Part(stream, 1 << 60)", _ROWS),
    Fault("hexadecimal numbers are numbers", "emdiam/formats/adjacency_graph.py",
          '(b"" if integers else b"+-.eE")', 'b"+-.eEx"', _ROWS),
    Fault("two arrays that may be rows or ends are rows", "emdiam/formats/array_files.py",
          "if orders and (alike or len(orders) > 1):", "if len(orders) > 1:", _ROWS),
    Fault("arrays that are longer than they say are taken", "emdiam/formats/npy.py",
          "and source.size_bytes != size:", "and source.size_bytes < size:", _ROWS),
    Fault("pieces of two versions are one file", "emdiam/formats/remote_files.py",
          "            self._check(version)\n            return bytes(data)", "            return bytes(data)",
          _REMOTE),
    Fault("a piece ahead stays when the place changes", "emdiam/formats/remote_files.py",
          'self._data, self._at, self._end, self._ahead = b"", 0, target, None',
          'self._data, self._at, self._end = b"", 0, target', _REMOTE),
    Fault("an answer that breaks off is not asked for again", "emdiam/store/remote.py",
          "if attempt == _ATTEMPTS or not broke_off(error):", "if True:", _REMOTE),
)
