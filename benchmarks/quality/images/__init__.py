"""Segmentation by marks: sidecut beside the random walker, GrabCut and the watershed."""
