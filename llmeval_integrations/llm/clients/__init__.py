"""One file per SDK that reaches a model, one class each: we call them."""
