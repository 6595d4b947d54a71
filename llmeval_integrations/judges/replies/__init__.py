"""What a judge's reply says, whatever dress it comes in, and whatever else it quotes."""
