"""Sessions that were lived through on the server's home, by another control on the same store: as hosts do it."""

import pytest

from chain.scene import Scene
from holdfast.core.events import Compacted, ContextMeasured

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"


class Life(Scene):
    """A scene with the measures and compactions of a host."""

    def measure(self, where, used, window=200_000, reserve=20_000, **more):
        event = ContextMeasured(
            **self.header(where), used=used, window=window, reserve=reserve, host="claude-code", **more
        )
        return self.tell(event)

    def compact(self, where, summary="what was done", **more):
        return self.tell(Compacted(**self.header(where), summary=summary, **more))

    def thread(self, name="h1", **more):
        """A host's session that has begun."""
        where = self.arrive(name, **more).session.id
        self.begin(where)
        return where


@pytest.fixture
def life(tmp_path, vault):
    made = Life(tmp_path, permission={"rules": [{"domain": "bash", "pattern": "*", "decision": "allow"}]})
    yield made
    made.close()
