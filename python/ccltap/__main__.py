# SPDX-License-Identifier: MIT
"""python -m ccltap, and the script ccltap of the wheel."""

import sys

from ccltap.program import Error, replace


def main() -> int:
    try:
        replace(sys.argv[1:])
    except Error as error:
        print(f"ccltap: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
