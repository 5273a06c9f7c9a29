"""What people and programs are shown, whichever command shows it."""
