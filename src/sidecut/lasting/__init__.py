"""Clusters that last: new points, corrections and streams, without starting over."""

from sidecut.lasting.changes import Change, Changes
from sidecut.lasting.corrections import Correction, Corrections
from sidecut.lasting.streams import Stream
from sidecut.lasting.update import Before, place

__all__ = ["Before", "Change", "Changes", "Correction", "Corrections", "Stream", "place"]
