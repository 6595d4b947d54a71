"""Reading what a judge has decided out of its reply: surely, or not at all."""
