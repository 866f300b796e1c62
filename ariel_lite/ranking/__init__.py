"""Scores: BM25, fusion of ranked lists, typo candidates, re-ranking. Pure computation, no database."""
