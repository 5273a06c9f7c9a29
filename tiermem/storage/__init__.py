"""Where a store is kept that is no directory of this machine."""
