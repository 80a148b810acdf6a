"""Work that is spread over processes and machines: a queue, its workers, and who joins it all."""
