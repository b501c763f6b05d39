"""CR-MGC: connectivity restoration by a meta-learned graph convolution."""
