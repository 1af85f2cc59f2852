"""What each command can be told: one dataclass per command, from which its options and its help are made."""

from sidecut.cli.options.clustering import ClusterOptions, DemoOptions, MethodsOptions, PredictOptions
from sidecut.cli.options.judging import CheckOptions, EvaluateOptions
from sidecut.cli.options.pictures import SegmentOptions
from sidecut.cli.options.questions import AskOptions, StudioOptions
from sidecut.cli.options.spelling import command_line

__all__ = [
    "AskOptions",
    "CheckOptions",
    "ClusterOptions",
    "DemoOptions",
    "EvaluateOptions",
    "MethodsOptions",
    "PredictOptions",
    "SegmentOptions",
    "StudioOptions",
    "command_line",
]
