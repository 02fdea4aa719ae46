#!/usr/bin/env python3
"""Rewrites a transcript in the worst order: worst.py FROM TO

Keys are sorted, so that `type` comes after the payload; there are spaces
between tokens, and all but ASCII is written as escapes.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as lines, open(sys.argv[2], "w", encoding="ascii") as out:
    for line in lines:
        out.write(json.dumps(json.loads(line), sort_keys=True) + "\n")
