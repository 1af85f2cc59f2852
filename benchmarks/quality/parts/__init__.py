"""Graphs in many parts, and graphs of odd shapes: every method before and after parts are treated alike."""
