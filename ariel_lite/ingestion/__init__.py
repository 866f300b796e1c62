"""From a facility's records to entries: adapters read sources, the pipeline stores what they read."""
