"""Sources: where passages of works are looked up, and which a hypothesis is sent to."""
