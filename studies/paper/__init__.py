"""The paper: printed numbers, claims, the rules that judge them, and the results of a reproduction.

Printed numbers are in CSV files, verbatim:

- ``parameter_selection.csv``: the best cell of each 4 × 4 grid, with its regret (Section 4.2, text around Figure 3).
- ``recommended_parameters.csv``: the three numbered recommendations at the end of Section 5.
- ``parameter_patterns.csv``: the ranges of the best values, by scenario or horizon (Section 4.2).
- ``scenarios_table.csv``: the seven kinds of change, each with a definition and an example (Table 1).
- ``logistics_table.csv``: the results of the nine policies (Section 4.3, Table 3).
"""
