"""Positions to radio graph: links, sub-nets, hops, spanning tree, cut nodes. Sparse throughout."""
