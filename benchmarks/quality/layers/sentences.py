"""Sentences about the modules of Python's standard library, as numbers: a class is a module.

    PYTHON sentences.py FILE.npz

Runs in an environment with wordllama, whose wheel holds its weights: 256 numbers for each sentence, of length
one. The sentences are those of the documentation that modules, their functions and their classes carry.
"""

import importlib
import inspect
import re
import sys
import warnings
from pathlib import Path

import numpy as np

#: Modules that open a window or print when they are imported.
LEFT_OUT = {"antigravity", "idlelib", "this", "turtledemo"}
#: The most sentences of a module.
MOST = 60


def sentences(text):
    """Return the sentences of a text with five words or more."""
    text = re.sub(r"\s+", " ", text or "")
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z])", text)
    return [part.strip() for part in parts if len(re.findall(r"[a-z]{2,}", part)) >= 5]


def about(name):
    """Return the sentences about a module and what it defines, each once."""
    module = importlib.import_module(name)
    texts = [module.__doc__]
    for key, one in sorted(vars(module).items()):
        if (
            key.startswith("_")
            or not callable(one)
            or str(getattr(one, "__module__", "")).lstrip("_") != name
        ):
            continue
        texts.append(inspect.getdoc(one))
        if inspect.isclass(one):
            own = sorted(vars(one).items())
            texts += [inspect.getdoc(two) for key, two in own if callable(two) and not key.startswith("_")]
    return list(dict.fromkeys(part for text in texts if isinstance(text, str) for part in sentences(text)))


def corpus():
    """Return sentences and the name of the module of each."""
    found = []
    for name in sorted(sys.stdlib_module_names - LEFT_OUT):
        if name.startswith("_"):
            continue
        try:
            own = about(name)
        except ImportError:
            continue
        found += [(part, name) for part in np.random.default_rng(0).permutation(own)[:MOST].tolist()]
    texts, names = zip(*found, strict=True)
    return list(texts), np.array(names)


def main(path):
    """Save the numbers of all sentences, and their modules, those with the most sentences first."""
    import wordllama

    warnings.simplefilter("ignore")
    texts, names = corpus()
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    modules, counts = np.unique(names, return_counts=True)
    rank = dict(zip(modules[np.argsort(-counts, kind="stable")].tolist(), range(len(modules)), strict=True))
    np.savez_compressed(path, X=model.embed(texts, norm=True), y=[rank[name] for name in names.tolist()])


if __name__ == "__main__":
    main(sys.argv[1])
