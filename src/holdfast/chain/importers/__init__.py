"""Taking in the transcripts that other programs keep, so that they can be searched from the first day on (SC11)."""
