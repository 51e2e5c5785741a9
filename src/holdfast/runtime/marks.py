"""How a result that is no tool's own output begins, so that a model, a reader and we ourselves can tell."""

from __future__ import annotations

from holdfast.core.messages import Phrase

DENIED = "[holdfast:denied] "
"""The call did not run: a rule or a person said no; the reason follows."""
FAILED = "[holdfast:failed] "
"""The call ran and failed, or could not be run at all."""
INTERRUPTED = "[holdfast:interrupted] "
"""The call was cut off; whether it had an effect is not known."""
STOPPED_HERE = Phrase("runtime.stopped_here", "[stopped by the user]", "[已被用户停止]")
"""What stands in the place of a reply that a person did not wait for."""
