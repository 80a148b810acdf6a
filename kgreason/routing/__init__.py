"""The router: from a question and what is at hand to a type of task and a pattern of thinking."""
