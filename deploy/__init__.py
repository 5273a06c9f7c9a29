"""What a release and an image are made with; `docs/releasing.md` says how. Not in the wheel."""
