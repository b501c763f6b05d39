"""CR-MGC: graph convolution on an enlarged graph, from meta-learned weights."""
