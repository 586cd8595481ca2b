"""How edges reach a kernel: block table, arena, pager, memory plan, counters."""
