"""Whether outcomes of some questions help others of the same conversation."""
