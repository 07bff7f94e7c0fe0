"""The start page: journey, doors to the rooms, and the cards of all lessons."""
