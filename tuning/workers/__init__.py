"""Workers: threads, processes and Dask clusters."""
