"""The evidence behind defaults that depart from a paper."""
