"""One module per wire format: request out, events in. No vendor is named here."""
