# One image for driver, scheduler, workers and dashboard, which need the same versions and sources.
FROM python:3.11-slim AS build

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY ravenlab/ ravenlab/
COPY environments/ environments/
COPY policies/ policies/
COPY studies/ studies/
COPY tuning/ tuning/
COPY dashboards/ dashboards/
RUN python -m venv /opt/ravenlab \
    && /opt/ravenlab/bin/pip install --no-cache-dir --disable-pip-version-check \
        --constraint constraints.txt ".[cluster,postgres]"

FROM python:3.11-slim

# The user ID. Use the owner of the results folder to make it writable: --build-arg UID=$(id -u)
ARG UID=10001
RUN useradd --uid "$UID" --create-home ravenlab \
    && install --directory --owner ravenlab /cache /results
COPY --from=build /opt/ravenlab /opt/ravenlab

# /cache contains compiled kernels. Numba unpickles its files: do not mount a folder there that others can write.
ENV PATH=/opt/ravenlab/bin:$PATH \
    NUMBA_CACHE_DIR=/cache \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

USER $UID
WORKDIR /results
CMD ["ravenlab", "--help"]
