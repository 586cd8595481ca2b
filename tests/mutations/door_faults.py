"""Faults of what people hand in: how it is looked at, readers, digits of weights, and words about an answer."""

from __future__ import annotations

from tests.mutations.fault import Fault

_DECIMALS, _DIGITS = ("tests/test_decimals.py",), ("tests/formats/test_digits.py",)
_FILES, _MATRICES, _ROWS = ("tests/formats/test_graph_files.py",), ("tests/formats/test_matrices.py",), (
    "tests/formats/test_rows.py",)
_LOOK, _COUNTS, _COLUMNS = ("tests/formats/test_look.py",), ("tests/formats/test_counts.py",), (
    "tests/formats/test_columns.py",)

DOOR_FAULTS = (
    # -- digits of weights --------------------------------------------------------------------------------------
    Fault("digits behind the point count as those before it", "emdiam/decimal_kernels.py",
          "                power -= behind\n", "                power -= behind and value > 0\n", _DECIMALS),
    Fault("zeros at the end of a weight make it smaller", "emdiam/formats/kernels.py",
          "        value //= _TEN\n        power += 1\n", "        value //= _TEN\n", _DIGITS),
    Fault("of the rounded weights of a batch one is counted", "emdiam/formats/digits.py",
          "self.rounded += len(other)", "self.rounded += 1", _DIGITS),
    Fault("decimals of fewer places are whole numbers of their own unit", "emdiam/formats/digits.py",
          "        return exact.units * scale\n", "        return exact.units * scale.min()\n", _DIGITS),
    # -- the look -----------------------------------------------------------------------------------------------
    Fault("a first line of counts need not say how many edges follow", "emdiam/formats/text_source.py",
          "(self.m == self.pairs if self.m is not None else self.n != self.pairs)", "self.pairs > 1", _COUNTS),
    Fault("lists of neighbours of any length are edges with further fields", "emdiam/formats/look_shape.py",
          "    if certain or all(field in known for field in behind):\n", "    if certain and not behind:\n", _ROWS),
    Fault("any square of numbers is a matrix", "emdiam/formats/look_shape.py",
          "    if wide or hollow or plain or (not narrow and zeros >= width):\n",
          "    if hollow:\n        return True\n    if wide or plain or (not narrow and zeros >= width):\n", _ROWS),
    Fault("columns that number the edges are their ends", "emdiam/formats/tables.py",
          "    return is_count(column.values)\n", "    return False\n", _LOOK),
    # -- readers ------------------------------------------------------------------------------------------------
    Fault("two sides are numbered as one", "emdiam/formats/source.py",
          '"l" if batch.declares else "r"', '"l"', _MATRICES),
    Fault("columns of a matrix of two sides begin at its first vertex", "emdiam/formats/npy.py",
          "dst=batch.dst + edges.shape[0]", "dst=batch.dst + 0", _MATRICES),
    Fault("columns of an array are numbered from 0", "emdiam/formats/arrays.py",
          "places = [int(number) - 1 if number", "places = [int(number) if number", _MATRICES),
    Fault("labels of DL are those of the other end", "emdiam/formats/dl.py",
          "names.take(pa.array(batch.dst - 1))", "names.take(pa.array(batch.src - 1))", _FILES),
    Fault("rows of digraph6 are its columns", "emdiam/formats/whole.py",
          "    src, dst = np.divmod(np.flatnonzero(bits), n)\n", "    dst, src = np.divmod(np.flatnonzero(bits), n)\n",
          _FILES),
    Fault("an edge that another attribute weighs has the weight 1", "emdiam/formats/rows.py",
          '        if not isinstance(found, dict) or name not in found:\n',
          '        if isinstance(found, dict) and name not in found:\n            return "1"\n'
          '        if not isinstance(found, dict):\n', _ROWS),
    Fault("columns that are named count for files alone", "emdiam/caller.py",
          "source_of(graph, keep.weights, keep.columns,", "source_of(graph, keep.weights,", _COLUMNS),
    # -- words about an answer ----------------------------------------------------------------------------------
    Fault("directions that were dropped are not told", "emdiam/caller.py",
          "    return record.directed_input and not record.directed and record.source_format not in _UNSAID\n",
          "    return record.directed_input and record.directed\n", ("tests/test_caller.py", "tests/test_api.py")),
    Fault("a store without weights answers in numbers of edges", "emdiam/store/store.py",
          "    record = store.record.weights\n    if record is None:\n",
          "    record = store.record.weights\n    if record is None and name:\n",
          ("tests/test_weight_names.py", "tests/methods/weighted/test_diameter.py")),
    Fault("an option that a command has not is one to leave out", "emdiam/terms.py",
          "match[0] if (match[2] or match[3]) in own or not (match[1] or match[4]) else", "match[0] if True else",
          ("tests/test_terms.py",)),
    Fault("a table is written under any name", "emdiam/vertex_tables.py", "path.suffix.lower() in", "path.suffix in",
          ("tests/cli/test_first_try.py",)),
    Fault("flags in a jobs file have no value", "emdiam/terms.py", '        value = "true"\n', "        value = None\n",
          ("tests/test_terms.py",)),
)
