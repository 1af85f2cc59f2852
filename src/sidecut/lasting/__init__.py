"""Clusters that last: new points, corrections and streams, without starting over."""

from sidecut.lasting.corrections import Correction, Corrections
from sidecut.lasting.streams import Stream
from sidecut.lasting.update import Before, Change, Changes, place

__all__ = ["Before", "Change", "Changes", "Correction", "Corrections", "Stream", "place"]
