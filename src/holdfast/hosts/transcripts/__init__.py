"""What a host writes down about its own sessions: the words, the calls and the fill, read as the file grows."""
