"""The style sheet of a report: light and dark by the reader's setting, narrow screens, and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1d2126; --soft: #59616b; --paper: #fbfbf9; --card: #ffffff;
  --line: #dfe1e4; --grid: #e4e5e8; --blue: #0a72b2; --orange: #d55e01; --green: #01875f; --purple: #b54c96;
  --grey: #76777a; --bad: #a3341a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #a3abb5; --paper: #15181c; --card: #1c2025;
  --line: #343a42; --grid: #31363d; --blue: #58b4e8; --orange: #f4924a; --green: #3fc79b; --purple: #e08cc6;
  --grey: #a5a7ab; --bad: #ff8f70; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
p { max-width: 46rem; margin: .5rem 0; overflow-wrap: anywhere; }
nav { margin: 1.2rem 0 0; font-size: .9rem; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: 0; padding: 0; }
a { color: var(--blue); }
.lead { color: var(--soft); font-size: 1.05rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
.tiles b { display: block; font-size: 1.2rem; line-height: 1.3; overflow-wrap: anywhere; }
.tiles span { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; margin: .8rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { padding: .4rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td { max-width: 24rem; overflow-wrap: break-word; }
td:first-child { font-weight: 600; min-width: 6rem; }
.figure { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
figure { margin: 1.1rem 0; padding: .9rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; break-inside: avoid; }
.plot { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 30rem; max-width: 52rem; height: auto; margin: 0 auto;
  color: var(--ink); }
svg text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif !important; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .5rem; max-width: 46rem; }
details { margin: .5rem 0; font-size: .88rem; }
summary { cursor: pointer; color: var(--blue); overflow-wrap: anywhere; }
details p { font-family: ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --card: #fff; --soft: #444; --line: #bbb;
  --grid: #ddd; --blue: #0a72b2; --orange: #d55e01; --green: #01875f; --purple: #b54c96; --grey: #76777a; }
  main { max-width: none; padding: 0; } nav { display: none; } .wide, .plot { overflow: visible; }
  svg { min-width: 0; } h2 { break-after: avoid; } table { font-size: .72rem; } td { max-width: none; } }
"""
