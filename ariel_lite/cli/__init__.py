"""The command line: `ariel-lite`."""
