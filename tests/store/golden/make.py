"""Write the golden database of the newest version: `python tests/store/golden/make.py`. None is ever made again."""

import gzip
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from golden_content import fill  # noqa: E402 (found by the path above)

from holdfast.store.migrations import MIGRATIONS  # noqa: E402 (found by the path above)


def main() -> int:
    target = HERE / f"v{len(MIGRATIONS)}.db.gz"
    if target.exists():
        print(f"{target.name} is there; a golden file is made once, with the version it stands for")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        target.write_bytes(gzip.compress((Path(folder) / "data" / "holdfast.db").read_bytes(), mtime=0))
    print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
