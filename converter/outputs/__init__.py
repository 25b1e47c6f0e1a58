"""Tables for scripts and people: what a conversion found, one file a kind."""
