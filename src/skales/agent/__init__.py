"""One turn: context, provider, tool calls through the gate, results, loop, history.

`gate` is the only place that lets a tool run; `turn` is the only writer of history.
"""
