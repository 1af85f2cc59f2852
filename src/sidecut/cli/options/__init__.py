"""What each command can be told: one dataclass per command, from which its options and its help are made."""

from sidecut.cli.options.clustering import (
    ClusterOptions,
    DemoOptions,
    MethodsOptions,
    PredictOptions,
    command_line,
)
from sidecut.cli.options.questions import (
    AskOptions,
    CheckOptions,
    EvaluateOptions,
    SegmentOptions,
    StudioOptions,
)

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
