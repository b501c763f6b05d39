"""Pictures and animations, drawn to be printed."""
