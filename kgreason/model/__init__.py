"""A language model behind the seams: it proposes, and never decides.

What it needs beside kgreason is the extra `llm`, which is imported only where a model is called.
"""
