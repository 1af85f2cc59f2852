"""Scripts in text: D^{-1/2}, λ_{K-1} and n_c are raised and lowered on the site, and plain in the source."""

import re

from docutils import nodes
from sphinx.ext.autosummary import autosummary_table

SCRIPT = re.compile(r"([\^_])\{([^{}]*)\}")
#: A letter with an index of one or two characters, such as n_c or W_ij.
INDEX = re.compile(r"(?<!\w)([^\W\d_])_([a-z0-9]{1,2})(?!\w)")


def set_scripts(app, doctree):
    """Raise and lower what stands in braces, everywhere but in code."""
    for text in list(doctree.findall(nodes.Text)):
        braced = INDEX.sub(r"\1_{\2}", text)
        if SCRIPT.search(braced) and not is_code(text):
            text.parent.replace(text, list(parts_of(braced)))


def is_code(text):
    """Whether a text is in code, or the raw text of something else. A formula on its own lines is neither."""
    if isinstance(text.parent, nodes.literal_block) and text.parent.get("language", "none") == "none":
        return False
    literal = (nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.raw, nodes.FixedTextElement)
    node = text.parent
    while node is not None and not isinstance(node, literal):
        node = node.parent
    # A table of names and what they do is a comment to Sphinx, but readers see it.
    return node is not None and not isinstance(node, autosummary_table)


def parts_of(text):
    """The pieces of a text, with scripts as nodes of their own."""
    end = 0
    for found in SCRIPT.finditer(text):
        if found.start() > end:
            yield nodes.Text(text[end : found.start()])
        kind = nodes.superscript if found[1] == "^" else nodes.subscript
        yield kind("", found[2])
        end = found.end()
    if end < len(text):
        yield nodes.Text(text[end:])


def setup(app):
    """Connect it."""
    app.connect("doctree-read", set_scripts)
    return {"parallel_read_safe": True}
