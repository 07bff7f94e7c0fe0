"""The lesson on copying: heads that copy."""
