"""Replies that are kept, so that no call is paid twice."""
