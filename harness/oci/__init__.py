"""OCI image layouts: blobs by digest and an index that leads to them; written byte for byte alike, read as hostile."""
