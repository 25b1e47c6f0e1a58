"""Which tensor of a pair is compared with which, and how far apart they are (docs/measuring.md)."""
