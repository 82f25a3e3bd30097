"""`python -m lakeward` and `lakeward` are the command line."""

# What `signal` stands on, and there at once: that takes milliseconds to load, in which a Ctrl-C would be a traceback.
import _signal as signal  # type: ignore[import-not-found]

__all__ = ["main"]


def main() -> None:
    """Run it. Until all is loaded a Ctrl-C ends it without a word, since there is nothing to tell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from lakeward.cli.main import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
