"""Numbers that the paper prints, as facts, word for word in CSV files.

- ``parameter_selection.csv``: the best cell of each 4 × 4 grid, with its regret; Section 4.2, the text around Figure 3.
- ``recommended_parameters.csv``: the three numbered pieces of practical guidance at the end of Section 5.
- ``parameter_patterns.csv``: where it sees the best values, by scenario or horizon; Section 4.2.
- ``scenarios_table.csv``: the seven kinds of change, each with a definition and an example; Table 1.
- ``logistics_table.csv``: the results of the nine policies; Section 4.3, Table 3.
- ``claims.csv``: what else the paper claims, in our words, each with its place and the number printed with it.
"""
