"""What `ravenlab doctor` looks at: each check gives rows of plain data and changes nothing."""
