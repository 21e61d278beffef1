"""Records calls to models as HTTP requests pass by. Only `init` is needed."""
