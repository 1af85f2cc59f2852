"""The seats beside what people use there now: `python -m benchmarks.seats`."""
