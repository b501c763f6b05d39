"""GCN: graph convolution on the survivors' network."""
