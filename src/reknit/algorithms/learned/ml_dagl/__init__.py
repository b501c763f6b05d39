"""ML-DAGL: multi-branch damage attention and the dilated graph convolution network."""
