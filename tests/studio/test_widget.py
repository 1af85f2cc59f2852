"""The notebook's widget in a real browser: the same modules as one text, and a stand-in for the kernel."""

import json

import pytest
from playwright.sync_api import expect
from sklearn.datasets import load_iris

from sidecut.studio.widget import ENTRY, STATIC, bundle, show


def test_every_module_of_the_page_is_in_the_bundle():
    modules = {path.stem for path in STATIC.glob("*.js")} - {"main", "notebook"}
    text = bundle()
    for module in modules:
        first = next(
            line for line in (STATIC / f"{module}.js").read_text().splitlines() if line.startswith("export ")
        )
        assert first.removeprefix("export ") in text


def test_names_that_clash_are_refused(monkeypatch, tmp_path):
    from sidecut.studio import widget

    (tmp_path / "a.js").write_text("export function twice() {}\n")
    (tmp_path / "b.js").write_text('import { twice } from "./a.js";\nfunction twice() {}\n')
    monkeypatch.setattr(widget, "STATIC", tmp_path)
    with pytest.raises(ValueError, match=r"twice is a name in both a\.js and b\.js"):
        bundle("b")


def test_the_widget_asks_and_is_told(browser):
    X, y = load_iris(return_X_y=True)
    widget = show(X, title="iris", height=500)
    sent = []
    widget.send = lambda message, buffers=None: sent.append(message)
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def kernel(message):
        widget._handle_custom_msg(message, [])
        return json.loads(json.dumps(sent.pop()))

    page.expose_function("toKernel", kernel)
    page.set_content("<div id=cell></div>")
    page.add_style_tag(content=widget._css)
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          const {default: widget} = await import(url);
          const hear = [];
          const model = {
            get: () => 500,
            on: (name, back) => hear.push(back),
            send: async (message) => {
              const reply = await toKernel(message);
              hear.forEach((back) => back(reply));
            },
          };
          widget.render({model, el: document.getElementById("cell")});
        }""",
        bundle() + ENTRY,
    )
    page.wait_for_selector(".sidecut .pair")
    question = widget.session.question()
    page.locator(".answers .same" if y[question.i] == y[question.j] else ".answers .different").click()
    expect(page.locator(".counts")).to_contain_text("1 answer")
    assert len(widget.session.run.history_) == 1
    page.locator(".sidecut .map").focus()
    page.keyboard.press("z")
    expect(page.locator(".counts")).to_contain_text("0 answers")
    assert widget.session.run.history_ == []
    assert errors == []
    page.close()
