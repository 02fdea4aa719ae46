# The job of cr-extract: the last result's text. Runs with -rs.
[.[] | select(.type == "result")] | last | .result // empty
