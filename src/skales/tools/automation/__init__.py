"""Tools of the category automation: the schedule and saved workflows."""
