# docker build --tag emdiam . && docker run --rm --volume "$PWD:/data" emdiam convert edges.txt graph.zarr
# Extras: docker build --build-arg EXTRAS='[plots,remote]' ...
FROM python:3.13-slim AS build
ARG EXTRAS=""
WORKDIR /source
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY emdiam emdiam
RUN python -m venv /opt/emdiam && /opt/emdiam/bin/pip install --no-cache-dir ".${EXTRAS}"

FROM python:3.13-slim
COPY --from=build /opt/emdiam /opt/emdiam
# Kernels of usual runs are compiled here, for the processor of this machine; on another model they are compiled again.
# Every user may write beside them, so that `docker run --user` keeps what it compiles.
ENV PATH=/opt/emdiam/bin:$PATH NUMBA_CACHE_DIR=/var/cache/emdiam
RUN useradd --uid 1000 --create-home emdiam && install --directory --owner=emdiam /data /var/cache/emdiam \
    && emdiam warmup --quiet && chmod --recursive a+rwX /var/cache/emdiam
USER 1000
WORKDIR /data
ENTRYPOINT ["emdiam"]
CMD ["--help"]
