"""What the exact method does about demands beyond connected links."""
