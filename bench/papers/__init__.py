"""`python -m bench.papers 001|002|003|004`: the tables and figures of a paper beside ours, as one page.

A paper has a module (paper_NNN.py) that measures cell by cell and lays out the page; what the paper reports stands in
published_NNN.py. Cells are kept as they come (kept.py), so that a run that was killed goes on.
"""
