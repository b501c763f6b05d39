"""GAT: graph attention on the survivors' network."""
