"""Everything kgreason can raise.

::

    KgreasonError
    ├── InputError            a file, option or query the user gave is wrong (exit 2)
    │   ├── GraphError        data that cannot be read
    │   ├── ShapesError       shapes that cannot be used
    │   ├── QueryError        a SPARQL text that does not parse or may not run
    │   │   └── ServiceError  a SPARQL text that calls another endpoint
    │   └── OptionError       options that do not go together
    ├── LedgerError           the reasoning history cannot be opened or is not as expected (exit 2)
    └── RunError              the run could not finish (exit 1)
        ├── TemplateError     a template of the catalogue is broken or was called wrongly
        ├── RecordError       an update wrote another number of nodes than it had to
        ├── TimeoutExceeded   a query was stopped at its time limit
        └── RowsExceeded      a query was stopped at its limit of rows

Each message names the file or IRI, what is wrong and what to do. Refuted,
inconclusive and violating are results, never errors.
"""


class KgreasonError(Exception):
    """Root of the tree; `exit_code` is what the command line ends with."""

    exit_code = 1


class InputError(KgreasonError):
    """What the user gave cannot be used."""

    exit_code = 2


class GraphError(InputError):
    """Data that cannot be read as RDF."""


class ShapesError(InputError):
    """Shapes that cannot be read or of which none can be used."""


class QueryError(InputError):
    """A SPARQL text of the user that does not parse, or may not run here."""


class ServiceError(QueryError):
    """A SPARQL text that calls another endpoint where that is not allowed."""


class OptionError(InputError):
    """Options that do not go together or have no meaning here."""


class LedgerError(KgreasonError):
    """A ledger that cannot be opened, is in use, or holds something else."""

    exit_code = 2


class RunError(KgreasonError):
    """The run could not finish."""


class TemplateError(RunError):
    """A template is broken, missing, or was given the wrong parameters."""


class RecordError(RunError):
    """An update did not write what it had to write; nothing may be built on it."""


class TimeoutExceeded(RunError):  # noqa: N818 - reads as what happened; it is no fault of a caller
    """A query was stopped at its time limit."""


class RowsExceeded(RunError):  # noqa: N818 - as TimeoutExceeded
    """A query was stopped at its limit of rows."""
