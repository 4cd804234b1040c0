"""`python -m bench`: the measurements that take minutes, not hours."""

from bench import corridor

corridor.main()
