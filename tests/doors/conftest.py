from doors.cli_run import holdfast  # noqa: F401 (a fixture)
