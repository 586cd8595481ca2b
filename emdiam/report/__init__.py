"""Reports on finished runs: pages, tables and figures from the output files of commands and batches."""

from .page import FORMATS, draw_figures, make_report, report_text
from .read import read_report
from .records import Report, Run

__all__ = ["FORMATS", "Report", "Run", "draw_figures", "make_report", "read_report", "report_text"]
