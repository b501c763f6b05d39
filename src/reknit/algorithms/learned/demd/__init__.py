"""DEMD: damage embedding, then multi-hop graph convolution."""
