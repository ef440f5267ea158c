"""The parts of the tool protocol for weak models; `providers.constrained` puts them together. Pure: no I/O."""
