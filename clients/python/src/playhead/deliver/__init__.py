"""From this process to the server: in batches, again when that fails, by way of the disk when it goes on
failing."""
