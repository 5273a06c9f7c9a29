# A server of memories: `tiermem serve`, with the weights of the embedding model. docs/guide/container.md says how to run it.
FROM python:3.13-slim-trixie AS build
COPY deploy /deploy
RUN ["/deploy/build.sh", "needs", "/opt/tiermem"]
COPY . /source
RUN ["/deploy/build.sh", "tiermem", "/source", "/opt/tiermem", "/data"]

FROM python:3.13-slim-trixie
COPY --from=build /opt/tiermem /opt/tiermem
COPY --from=build --chown=10001:10001 /data /data
ENV PATH=/opt/tiermem/bin:$PATH TIERMEM_STORE=/data/memory TIERMEM_KEYS=/data/keys.json
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["tiermem"]
CMD ["serve", "--host", "0.0.0.0"]
