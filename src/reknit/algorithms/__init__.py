"""The algorithms: each decides where survivors fly, or steers them step by step."""
