"""Read what a judge's reply states, in any formatting, and ignore what it quotes."""
