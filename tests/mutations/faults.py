"""The faults: of the kind that a slip makes, each wrong for some graph, store, certificate or checkpoint."""

from __future__ import annotations

from tests.mutations.fault import Fault

_ENGINE = ("tests/test_engine_protocol.py",)
_MULTI = ("tests/test_engine_protocol.py", "tests/test_pivots.py")
_VERIFY = ("tests/test_verify_labels.py", "tests/test_verify.py", "tests/test_verify_refusals.py")
_NOTHING_ABOVE_256 = """    if first_vertex[len(first_vertex) - 1] > 256:
        return 0
    arcs = 0
"""

FAULTS = (
    # -- traversals ---------------------------------------------------------------------------------------------
    Fault("top-down levels do nothing on more than 256 vertices", "emdiam/traverse/dense.py",
          '    """Mark the neighbours of frontier rows in `visited` (atomically). Returns arcs scanned."""\n'
          "    arcs = 0\n", _NOTHING_ABOVE_256, _ENGINE),
    Fault("bottom-up levels do nothing on more than 256 vertices", "emdiam/traverse/dense.py",
          '    """Mark unvisited vertices that have a frontier neighbour in `visited`. Returns arcs scanned."""\n'
          "    arcs = 0\n", _NOTHING_ABOVE_256, _ENGINE),
    Fault("the farthest vertex of a dense level is not the smallest", "emdiam/traverse/dense.py",
          "smallest = min(smallest, (word << 6) + count_trailing_zeros(new))",
          "smallest = (word << 6) + count_trailing_zeros(new)", _ENGINE),
    Fault("a block is left out whose only active row goes on in the next one", "emdiam/traverse/dense.py",
          "if last == n_last or row_start(group, row, hub, last) == (c + 1) << shift:", "if last > 0:", _ENGINE),
    Fault("rows whose block is missing are forgotten", "emdiam/traverse/sparse.py",
          "        state[NEXT_ARCS] = next_arcs\n        state[MISSED] = put_aside\n",
          "        state[NEXT_ARCS] = next_arcs\n        state[MISSED] = 0\n", _ENGINE),
    Fault("a spread leaves bounds that are one too large", "emdiam/traverse/sparse.py",
          "if np.int64(bound[w]) > value + 1:", "if np.int64(bound[w]) > value + 2:", _ENGINE),
    Fault("the last block of a row counts as resident", "emdiam/traverse/strips.py",
          "    for block in range(start >> shift, ((end - 1) >> shift) + 1):\n        if slot_of[block] < 0:",
          "    for block in range(start >> shift, (end - 1) >> shift):\n        if slot_of[block] < 0:",
          ("tests/test_engine_protocol.py", "tests/test_strips.py")),
    Fault("the words of a level stay after a sparse level of many sources", "emdiam/traverse/multi_sparse.py",
          "            words[now, here[i], j] = 0\n", "            words[now, here[i], j] |= 0\n", _MULTI),
    Fault("rows over several blocks are finished block by block", "emdiam/traverse/multi_dense.py",
          "                    if spans:\n", "                    if spans and w > 64:\n", _MULTI),
    Fault("arcs of the last neighbour unite no components", "emdiam/traverse/components.py",
          "for p in range(base + start, base + end):\n                    other = _find",
          "for p in range(base + start, base + end - 1):\n                    other = _find", _ENGINE),
    Fault("clusters are nearer by the arc between them", "emdiam/traverse/condense.py",
          "weight = (mine >> distance_shift) + np.uint64(1)", "weight = (mine >> distance_shift)",
          ("tests/test_clusters.py", "tests/test_approx_clusters.py")),
    # -- stream -------------------------------------------------------------------------------------------------
    Fault("blocks that are not resident are not swept", "emdiam/stream/pager.py",
          "        self.crew.for_each(self._ahead(blocks), work, tick)\n", "", _ENGINE),
    Fault("the last of consecutive blocks is not read", "emdiam/stream/pager.py",
          "first, stop = int(part[0]), int(part[-1]) + 1",
          "first, stop = int(part[0]), max(int(part[0]) + 1, int(part[-1]))", _ENGINE),
    Fault("offsets of a group of rows wrap above 2^16 arcs", "emdiam/stream/offsets.py",
          "relative[:, -1] > 0xFFFF", "relative[:, -1] > 0x1FFFF", ("tests/test_offsets.py",)),
    # -- bounds and proofs --------------------------------------------------------------------------------------
    Fault("upper bounds are the larger of two terms, not their sum", "emdiam/traverse/pivot_bounds.py",
          "high = min(d + eccentricity, largest)", "high = min(max(d, eccentricity), largest)",
          ("tests/test_pivots.py",)),
    Fault("an upper bound is one too small", "emdiam/traverse/folds.py",
          "sums = away[piece].astype(np.int64) + eccentricity\n",
          "sums = away[piece].astype(np.int64) + eccentricity - 1\n",
          ("tests/test_folds.py", "tests/test_classics.py")),
    Fault("a lower bound is one too large", "emdiam/traverse/folds.py",
          "best = np.maximum(d, eccentricity - d)", "best = np.maximum(d, eccentricity - d + 1)",
          ("tests/test_folds.py", "tests/test_classics.py")),
    Fault("points count as near that are one too far", "emdiam/exact/candidates.py",
          "if np.int64(points[r, i]) + most[i] <= limit:", "if np.int64(points[r, i]) + most[i] <= limit + 1:",
          ("tests/test_pivots.py",)),
    Fault("the maxima of a box leave out its last point", "emdiam/exact/boxes.py",
          "            for r in range(begin[node], end[node]):\n                for i in range(k):\n"
          "                    most[node, i]",
          "            for r in range(begin[node], end[node] - 1):\n                for i in range(k):\n"
          "                    most[node, i]", ("tests/test_boxes_slices.py", "tests/test_pivots.py")),
    Fault("Winnow drops a ball that is one too wide", "emdiam/exact/fdiam.py",
          "self.radius = self.bound // 2\n", "self.radius = self.bound // 2 + 1\n", ("tests/test_fdiam.py",)),
    Fault("Chain Processing drops the tips it has to keep", "emdiam/exact/fdiam_state.py",
          "        self._bounds.put(survivors, self.tip)\n", "", ("tests/test_fdiam.py",)),
    Fault("iFUB ends a level too early", "emdiam/exact/ifub.py",
          "2 * self.fringe)", "2 * self.fringe - 2)", ("tests/test_classics.py",)),
    Fault("the second largest distance to a centre is left out", "emdiam/approx/cluster_bounds.py",
          "np.where(second < 0, 0, largest + second)", "np.where(second < 0, 0, largest)",
          ("tests/test_approx_clusters.py",)),
    Fault("every arc of the condensed graph is as long as one edge", "emdiam/weighted/internal.py",
          "new = label + (weight << owner_bits)", "new = label + (np.uint64(1) << owner_bits)",
          ("tests/test_weighted_paths.py",)),
    # -- certificates and their check ---------------------------------------------------------------------------
    Fault("a certificate with other bytes of the same number is taken", "emdiam/exact/certificate.py",
          "if data != sealed:", "if len(data) != len(sealed):",
          ("tests/test_certificate.py", "tests/test_certificate_digest.py")),
    Fault("labels may differ by two along an edge", "emdiam/verify/labels.py",
          "abs(np.int64(labels[w, s]) - np.int64(labels[v, s])) > 1",
          "abs(np.int64(labels[w, s]) - np.int64(labels[v, s])) > 2",
          _VERIFY),
    Fault("a ball settles vertices one beyond it", "emdiam/verify/labels.py",
          "<= limits[c]:", "<= limits[c] + 1:", _VERIFY),
    Fault("a witness may be nearer than it says", "emdiam/verify/groups.py",
          "if apart != part.lower:", "if apart > part.lower:", _VERIFY),
    Fault("a component may be left out that could hold the diameter", "emdiam/verify/parts.py",
          "members.largest_other - 1 > claims.upper", "members.largest_other - 3 > claims.upper", _VERIFY),
    Fault("a certificate of another graph is taken", "emdiam/verify/parts.py",
          "if digest.hexdigest() != facts.digest:", "if len(digest.hexdigest()) != len(facts.digest):", _VERIFY),
    # -- conversion and stores ----------------------------------------------------------------------------------
    Fault("keys of two runs are neither sorted nor made distinct", "emdiam/graph/merge.py",
          "if n_sources > 1:", "if n_sources > 2:", ("tests/test_sort.py", "tests/test_convert.py")),
    Fault("the rank of an id counts one bit in place of those below it", "emdiam/graph/presence.py",
          "((np.uint64(1) << (part & 63)) - np.uint64(1))", "(np.uint64(1) << (part & 63))",
          ("tests/test_convert.py", "tests/test_convert_stages.py")),
    Fault("the checksum of a chunk is not compared", "emdiam/graph/codec.py",
          "crc32c(body) != int.from_bytes(stored, \"little\")", "crc32c(body) < 0",
          ("tests/test_codec.py", "tests/test_store_damage.py")),
    # -- checkpoints --------------------------------------------------------------------------------------------
    Fault("damaged frames of a journal are taken", "emdiam/checkpoint/frames.py",
          "if len(payload) < length or _crc(kind, payload, at.crc) != crc:", "if len(payload) < length:",
          ("tests/test_checkpoint.py",)),
    Fault("a journal answers other arguments", "emdiam/checkpoint/journal.py",
          'if record.head["verb"] != verb or record.head["args"] != args:', 'if record.head["verb"] != verb:',
          ("tests/test_checkpoint.py", "tests/test_checkpoint_runs.py")),
    Fault("a damaged state of a conversion is taken", "emdiam/graph/state_file.py",
          'if file.read(_CRC_BYTES) != check.to_bytes(_CRC_BYTES, "little"):',
          "if len(file.read(_CRC_BYTES)) != _CRC_BYTES:",
          ("tests/test_convert_checkpoint.py", "tests/test_convert_resume.py")),
    # -- many machines ------------------------------------------------------------------------------------------
    Fault("ids far apart are decoded wrongly", "emdiam/dask/id_sets.py",
          "        shift += 7\n", "        shift += 8\n", ("tests/test_dask_values.py", "tests/test_dask_search.py")),
    Fault("the owner of a vertex keeps the largest value told", "emdiam/dask/letters.py",
          "np.minimum.reduceat(values, starts)", "np.maximum.reduceat(values, starts)",
          ("tests/test_dask_values.py", "tests/test_dask_labels.py")),
    # -- GPU ----------------------------------------------------------------------------------------------------
    Fault("a vertex is put into the queue by everyone who reaches it", "emdiam/gpu/kernels/bfs_top_down.cu",
          "if ((*word & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;",
          "if ((*word & bit) != 0) return; *word |= bit;",
          ("tests/test_gpu_variants.py", "tests/test_gpu_engine.py")),
    Fault("upper bounds on the device are too small", "emdiam/gpu/kernels/pivot_bounds.cu",
          "static_cast<u64>(d) + eccentricity;", "static_cast<u64>(max(d, eccentricity));",
          ("tests/test_gpu_columns.py", "tests/test_gpu_engine.py")),
    Fault("the row of a unit that begins it is the one before", "emdiam/gpu/kernels/mapping.cuh",
          "if (starts[middle] <= unit) low = middle;", "if (starts[middle] < unit) low = middle;",
          ("tests/test_gpu_mapping.py", "tests/test_gpu_variants.py")),
    Fault("arcs behind a page are looked at", "emdiam/gpu/kernels/mapping.cuh",
          "return min(max(arc, begin), end) - begin;", "return max(arc, begin) - begin;",
          ("tests/test_gpu_paged.py", "tests/test_gpu_engine.py")),
)
