"""`python -m lakeward` is the command line."""

from lakeward.cli.main import main

if __name__ == "__main__":
    main()
