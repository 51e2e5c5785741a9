"""Putting Holdfast into a host's settings, and taking it out again (HO1)."""
