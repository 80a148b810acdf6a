# kgreason in a container, made of the wheel: docker build -t kgreason .
#   docker run --rm -v "$PWD:/work" kgreason investigate data --shapes shapes.ttl
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.13-slim
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels \
    && useradd --create-home --uid 1000 kgreason
# What is read and written lies here; the ledger is made in it.
WORKDIR /work
USER kgreason
ENTRYPOINT ["kgreason"]
CMD ["--help"]
