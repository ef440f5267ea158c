"""One TOML file per quirk of a wire format: the answer played back and what must come out."""
