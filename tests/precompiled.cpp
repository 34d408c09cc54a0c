// Nothing: its target holds the headers that all tests include, compiled once.
