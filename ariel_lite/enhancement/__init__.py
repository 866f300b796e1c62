"""Enhancers: one file each; they add to entries what no source says."""
