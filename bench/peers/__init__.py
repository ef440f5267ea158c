"""Other agents beside ours, where they install: `known` is the table, a peer is one entry there.

`install` puts each into a folder of its own, `start` makes a subject of it, `rows` measures it with the code that
measures us. What cannot be had is named in one line, and the run goes on.
"""
