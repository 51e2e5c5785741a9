"""Notice when an agent goes round in circles, and ask before it goes on (DL1-DL3)."""

from holdfast.policies.doom_loop.policy import DoomLoop

__all__ = ["DoomLoop"]
