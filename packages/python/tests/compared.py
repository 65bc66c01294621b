"""Prints what clew says of the histories that a file lists, a line of JSON each, as clew check --output json - does."""

import sys
from concurrent.futures import ThreadPoolExecutor

import clew


def said(path: str) -> str:
    with open(path.rstrip("\n"), "rb") as history:
        try:
            return clew.check(history, time_limit="20s").line
        except clew.Error as error:
            return error.response["result"]["output"]["json"].rstrip("\n")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as paths, ThreadPoolExecutor(2) as threads:
        for line in threads.map(said, paths):
            print(line)
