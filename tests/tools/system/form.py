"""A small window with a form, run by a Python that has tkinter: `python form.py LOG`. Writes what happens to LOG.

Every line is a JSON object. `--title` names the window.
"""

import json
import sys
import tkinter as tk
from functools import partial
from pathlib import Path

LINES = 200


def main(log: Path, title: str) -> None:
    def note(event: str, **facts: object) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, **facts}) + "\n")

    window = tk.Tk()
    window.title(title)
    window.geometry("900x600+60+40")
    font = ("DejaVu Sans", 14)

    name = tk.StringVar(window)
    tk.Label(window, text="Name", font=font).place(x=30, y=30)
    entry = tk.Entry(window, textvariable=name, font=font, width=40, bg="white", fg="black")
    entry.place(x=150, y=26)
    city = tk.StringVar(window, value="Graz")
    tk.Label(window, text="City", font=font).place(x=30, y=90)
    tk.Entry(window, textvariable=city, font=font, width=40, bg="white", fg="black").place(x=150, y=86)
    name.trace_add("write", lambda *_: note("name", text=name.get()))

    save = tk.Button(window, text="Save changes", font=font, command=lambda: note("save", text=name.get()))
    save.place(x=150, y=150)

    def swap() -> None:
        save.configure(text="Publish to all", bg="#b03030", fg="white")
        note("swapped")

    tk.Button(window, text="Swap", font=font, command=swap).place(x=400, y=150)
    tk.Button(window, text="Delete account", font=font, command=lambda: note("deleted")).place(x=520, y=150)

    lines = tk.Listbox(window, font=font, height=10, width=40)
    for number in range(LINES):
        lines.insert("end", f"Line {number}")
    lines.place(x=30, y=230)

    def note_top(_event: object) -> None:
        window.after_idle(lambda: note("scrolled", top=int(lines.yview()[0] * LINES + 0.5)))

    lines.bind("<Button-4>", note_top)
    lines.bind("<Button-5>", note_top)
    lines.bind("<Double-Button-1>", lambda _event: note("double"))
    lines.bind("<Button-3>", lambda _event: note("menu"))

    def note_key(pressed: str, _event: object) -> None:
        note("key", name=pressed)

    for combination in ("Control-Shift-T", "Control-plus", "Alt-F3", "F5", "Next"):
        window.bind(f"<{combination}>", partial(note_key, combination))
    held = {"Shift_L", "Shift_R", "Control_L", "Control_R", "Alt_L", "Alt_R", "Super_L"}
    window.bind("<KeyPress>", lambda event: note("down", name=event.keysym) if event.keysym in held else None)
    window.bind("<KeyRelease>", lambda event: note("up", name=event.keysym) if event.keysym in held else None)

    def take_focus() -> None:
        entry.focus_force()
        note("ready")

    window.after(300, take_focus)
    window.mainloop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
