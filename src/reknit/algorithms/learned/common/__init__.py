"""What all graph-learning planners share: loss, online iterations, scaling, weight files."""
