"""Taking a server's logbook along in a file, and bringing new entries back."""
