"""The composition root: plan, recover, train."""
