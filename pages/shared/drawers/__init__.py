"""The further sights of the lessons, a file a lesson: each function draws what one drawer shows."""
