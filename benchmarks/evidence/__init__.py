"""All figures of the pages in one run, and which are older than the code: `make evidence DATA=FOLDER`."""
