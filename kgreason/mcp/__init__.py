"""The tools of the Model Context Protocol: what a program that speaks it may ask and start."""
