"""What starts turns by itself: tasks, subtasks, the schedule, workflows. None of it talks to a provider."""
