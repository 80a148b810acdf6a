"""The planner: strategies that work on a question, behind one protocol."""
