# Lakeward: server, tiering and console in one image; the argument says which.
#
#   docker build -t lakeward .
#   docker run -p 9123:9123 -v lakeward-data:/data lakeward
#   docker run lakeward tier --engine local --server lakeward:9123 --warehouse s3://lake/warehouse
#
# Nothing here is of one architecture: every wheel that is installed exists for amd64 and for arm64, so
# `docker buildx build --platform linux/amd64,linux/arm64 .` makes both.

ARG BASE=python:3.12-slim

FROM ${BASE} AS build
# What `pip install 'lakeward[…]'` is to bring along. Spark, 700 MB with a Java, is not needed for `tier --engine local`.
ARG EXTRAS=console,iceberg,paimon,duckdb,rocksdb,certs
# Compiled loops are made for any machine of the architecture, not for the one that builds.
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/var/cache/lakeward
RUN python3 -m venv /opt/lakeward
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
# Whole seconds, since layers keep no others: what is compiled belongs to a file of a certain time.
# pip, and the tests and headers of libraries, are of no use to anybody in there.
RUN /opt/lakeward/bin/pip install --no-compile ".[${EXTRAS}]" \
    && /opt/lakeward/bin/pip uninstall --yes --quiet setuptools pip \
    && rm -rf /opt/lakeward/lib/python3*/site-packages/numba/tests \
        /opt/lakeward/lib/python3*/site-packages/pyarrow/tests \
        /opt/lakeward/lib/python3*/site-packages/pyarrow/include \
    && find /opt/lakeward -exec touch --no-dereference --date=@1700000000 {} + \
    && /opt/lakeward/bin/python -m compileall -q /opt/lakeward/lib \
    && /opt/lakeward/bin/python -m lakeward.server.tablet.kv.kv_warm_up

FROM ${BASE}
LABEL org.opencontainers.image.title="Lakeward" \
    org.opencontainers.image.description="Streaming storage that speaks the Apache Fluss protocol" \
    org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 lakeward \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin lakeward \
    && install -d -o lakeward -g lakeward -m 0700 /data
COPY --from=build /opt/lakeward /opt/lakeward
COPY --from=build --chown=10001:10001 /var/cache/lakeward /var/cache/lakeward
COPY deploy/container/server.yaml /etc/lakeward/server.yaml
ENV PATH=/opt/lakeward/bin:$PATH \
    LAKEWARD_CONFIG=/etc/lakeward/server.yaml \
    NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/var/cache/lakeward \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 9123 9180
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=30s --retries=3 CMD ["lakeward", "health"]
ENTRYPOINT ["lakeward"]
CMD ["serve"]
