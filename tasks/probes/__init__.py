"""The tests (in code: probes): each makes cases from samples and scores the replies, without side effects."""
