-- Changes whenever another connection has written.
pragma data_version
