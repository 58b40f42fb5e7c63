"""What goes wrong."""


class Error(Exception):
    """A program that is wrong, a check that failed, a device that failed. Its text is what fclc prints.

    `status` is the exit status that the command would have: 1 the program is wrong, 2 an option, a file or an
    argument is, 3 the device or its driver failed, 4 the compiler is wrong.
    """

    status = 1


class ArgumentError(Error, TypeError):
    """An argument of a call that does not fit its parameter's type."""

    status = 2


class Warning(UserWarning):  # noqa: A001  (fcl.Warning, as fclc calls them)
    """A warning of the compiler's, by Python's own module `warnings`."""
