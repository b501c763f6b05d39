"""What a study is: its TOML, checked, and the runs that it asks for."""
