import pytest

from chain.scene import Scene


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path, permission={"rules": [{"domain": "bash", "pattern": "*", "decision": "allow"}]})
    yield made
    made.close()
