"""Tests of the measuring code. `make test` runs them when benchmarks/ has changed."""
