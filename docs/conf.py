"""How the site is built: `make docs`, or `sphinx-build docs docs/_build/html`."""

import os
import sys
import warnings
from pathlib import Path

import sidecut

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "sidecut"
author = "The sidecut developers"
project_copyright = "The sidecut developers, BSD-3-Clause"
version = release = sidecut.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "public_names",
    "example_links",
    "formulas",
]
exclude_patterns = [
    "_build",
    "_templates",
    "_extensions",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "**/README.rst",
]
templates_path = ["_templates"]
nitpicky = True
# Names in single backticks are code; the extension public_names turns those of the library into links.
default_role = "code"
# Quotes in docstrings are those of code.
smartquotes = False

# Markdown pages. Headings have the anchors that public forges give them.
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

# The reference. The docstrings name the types, in words.
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Examples are read for their pictures, and stop the build where they fail. All data are bundled or made up.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/{name}" for name in ("first_steps", "knowledge", "fields", "large")]
    + ["*"],
    "filename_pattern": r"\.py",
    "within_subsection_order": "example_links.ReadingOrder",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "notebook_images": False,
    "thumbnail_size": (480, 300),
    "write_computation_times": False,
    "backreferences_dir": None,
    "image_scrapers": ("matplotlib",),
    "parallel": int(os.environ.get("GALLERY_JOBS", "1")),
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "sidecut"
html_static_path = ["_static"]
html_css_files = ["sidecut.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "getting-started": [], "how-do-i": [], "why-not": []}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg", "alt_text": "sidecut"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_prev_next": False,
    "back_to_top_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

warnings.filterwarnings("ignore", message=".*non-interactive.*")


def strip_code(app, doctree):
    """Take the empty line off the end of code, which doctest needs and readers do not."""
    for block in doctree.findall(lambda node: node.tagname in ("literal_block", "doctest_block")):
        if len(block.children) == 1 and block.astext() != block.astext().rstrip():
            block.children[0] = type(block.children[0])(block.astext().rstrip())
            block.children[0].parent = block
            block.rawsource = block.astext()


def setup(app):
    """Connect what is above."""
    app.connect("doctree-read", strip_code)
