"""`python -m holdfast`."""

from holdfast.doors.cli import main

if __name__ == "__main__":
    main()
