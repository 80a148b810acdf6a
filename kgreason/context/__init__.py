"""What a phase is handed: the graph, the record, the policy, a symptom and who fails it."""
