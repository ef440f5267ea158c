"""Tools for the person's own work: the planner, documents, spreadsheets, presentations."""
