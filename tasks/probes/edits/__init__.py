"""Further ways to change a text: three that change what it says, three that leave it alone."""
