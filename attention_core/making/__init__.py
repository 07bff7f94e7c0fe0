"""Makes the files of trained networks and of measurements that come along. Nothing imports it, and no installation has
it.
"""
