"""Explores the design space of push memories: builds points by `pushmem`, keeps their figures, shows the trade-offs."""
