"""How far a judge can be trusted: agreement with people, calibration, a corrected pass rate."""
