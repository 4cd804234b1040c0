"""Statistical functions that stages and probes share; scipy is imported only inside functions, because it is slow."""
