"""Hours of attempts to break reknit, drawn from seeds; findings can be repeated one by one."""
