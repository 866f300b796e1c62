"""The REST API and the page, over the search service."""
