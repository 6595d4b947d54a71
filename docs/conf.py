"""How the site is built; `pages.py` makes what is generated."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "llmeval-integrations"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "pages"]
exclude_patterns = ["examples"]

smartquotes = False
myst_heading_anchors = 3

html_theme = "furo"
html_title = project
html_static_path = ["style"]
html_extra_path = ["../llms.txt"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # would fetch pages, which a browser forbids from disk
colors = ("color-brand-primary", "color-brand-content", "color-api-name", "color-api-pre-name")
html_theme_options = {
    "light_css_variables": dict.fromkeys(colors, "#245a9e"),
    "dark_css_variables": dict.fromkeys(colors, "#8db7ef"),
}
pygments_style = "default"
pygments_dark_style = "github-dark"

nb_execution_mode = "off"  # the tests run the notebooks; the site shows what they committed
nb_ipywidgets_js = {}  # would come from another server

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_display_short_literal_types = True
python_maximum_signature_line_length = 150
toc_object_entries_show_parents = "hide"
